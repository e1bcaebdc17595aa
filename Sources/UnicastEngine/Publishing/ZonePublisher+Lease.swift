import DNSMessage
import DNSSD
import Discovery

/// The state of a publisher's lease: whether the server has it, and with which text.
struct LeaseState: Sendable {
    enum Phase {
        /// The index has not been read.
        case none
        /// The lease must be written.
        case fresh
        /// The server has the lease.
        case held
    }

    var phase = Phase.none
    /// The lease that the server has.
    var current: Lease?
    /// The lease that was sent to replace it, perhaps without an answer. It is sent again unchanged, so that the server
    /// can only have one of the two.
    var pending: Lease?
    var count: UInt64 = 0
    var isInFlight = false
    /// Whether the server must be asked which lease it has.
    var isDoubtful = false
    /// Whether the server said that it has the lease, and nothing is known that may have ended it since.
    var isAcknowledged = false
    /// Whether the server may have the lease.
    var mayExist = false
    var renewAt = Duration.zero
    /// When the lease ends, so that others may take the records back.
    var endsAt: Duration?

    var isHeld: Bool { phase == .held }
}

extension ZonePublisher {
    /// Whether something other than the lease is in the zone, may be, or is to be.
    var isNeeded: Bool { !items.isEmpty || !hostsToRemove.isEmpty || host.mayExist || !unread.isEmpty }

    /// Writes, checks or renews the lease if it is time.
    /// - Returns: whether other requests may be sent.
    mutating func sendLease(_ now: Duration) -> Bool {
        guard !lease.isInFlight, isNeeded || lease.mayExist else { return lease.isHeld && !lease.isDoubtful }
        switch lease.phase {
        case .none where items.isEmpty: return false
        case .none:
            send(.index, .ask(layout.index(id.shard), .ptr))
        case .fresh:
            guard items.values.contains(where: { $0.stage == .wanted }) || !hostsToRemove.isEmpty || host.mayExist
            else {
                // The lease may have been written although no answer came; nothing else was.
                return true
            }
            writeLease(now)
        case .held where lease.isDoubtful:
            send(.leaseCheck, .ask(layout.lease(of: id), .txt))
        case .held:
            guard lease.renewAt <= now else { return true }
            renewLease(now)
            return true
        }
        lease.isInFlight = true
        return false
    }

    private mutating func makeLease() -> Lease {
        lease.count += 1
        return Lease(session: session, count: lease.count, seconds: leaseSeconds)
    }

    private mutating func writeLease(_ now: Duration) {
        let new = makeLease()
        var update = ZoneUpdate()
        update.replace(layout.lease(of: id), .txt, with: .txt(new.data), ttl: ttl)
        update.add(layout.index(id.shard), .ptr, .ptr(layout.lease(of: id)), ttl: ttl)
        lease.mayExist = true
        (lease.current, lease.pending) = (nil, new)
        send(.lease(new, sentAt: now), .update(update, subject: "\(layout.lease(of: id))"))
    }

    private mutating func renewLease(_ now: Duration) {
        guard let current = lease.current else { return }
        let new = lease.pending ?? makeLease()
        lease.pending = new
        var update = ZoneUpdate()
        update.require(layout.lease(of: id), .txt, .txt(current.data))
        update.replace(layout.lease(of: id), .txt, with: .txt(new.data), ttl: ttl)
        update.add(layout.index(id.shard), .ptr, .ptr(layout.lease(of: id)), ttl: ttl)
        lease.isInFlight = true
        send(.lease(new, sentAt: now), .update(update, subject: "\(layout.lease(of: id))"))
    }

    mutating func indexRead(_ reply: ZoneReply, _ now: Duration) {
        lease.isInFlight = false
        switch reply {
        case .records(let records):
            let listed = Set(records.targets)
            guard listed.count < ZoneLayout.mostRecords || listed.contains(layout.lease(of: id)) else {
                let error = DiscoveryError(
                    .serverLimitReached,
                    "\(listed.count) publishers are listed at \(layout.index(id.shard)): no more than \(ZoneLayout.mostRecords) may be"
                )
                return pause(.refused(error), now)
            }
            lease.phase = .fresh
        case .outcome: break
        }
    }

    mutating func leaseSent(_ new: Lease, _ reply: ZoneReply, _ sentAt: Duration, _ now: Duration) {
        lease.isInFlight = false
        switch reply {
        case .outcome(.done):
            // A renewal requires the earlier lease.
            if lease.isHeld { honesty.leaseOmissions = 0 }
            lease.isAcknowledged = true
            leaseBecame(new, sentAt)
        case .outcome(.refused(let error)): pause(.refused(error), now)
        case .outcome(.serverFailed): pause(.waiting(serverFailure), now)
        case .outcome(.unheard): break
        // The server has another lease than the current one, or the last answer was lost.
        default: lease.isDoubtful = true
        }
    }

    private mutating func leaseBecame(_ new: Lease, _ sentAt: Duration) {
        lease.phase = .held
        (lease.current, lease.pending, lease.isDoubtful) = (new, nil, false)
        // At half its length or a little earlier, so that publishers that began together do not stay together.
        lease.renewAt = sentAt + new.length * (0.5 - 0.1 * random.fraction())
        lease.endsAt = sentAt + new.length
        host.lookAgain()
        // A zone that was restored from an older state may lack services published since the previous renewal.
        for number in items.keys where items[number]?.isOutdated == false && items[number]?.isConfirmed == false {
            items[number]?.changed()
            items[number]?.isConfirmed = true
        }
    }

    mutating func leaseRead(_ reply: ZoneReply, _ now: Duration) {
        lease.isInFlight = false
        guard case .records(let records) = reply else { return }
        lease.isDoubtful = false
        let text = records.text
        if text != nil { honesty.leaseOmissions = 0 }
        if let pending = lease.pending, pending.data == text {
            // The time at which the server accepted it is not known.
            leaseBecame(pending, (lease.endsAt ?? now) - pending.length)
        } else if lease.current?.data != text || text == nil {
            // It was written a moment ago, and nothing could be published with it.
            if text == nil, host.acknowledged == 0, lease.isAcknowledged, !honesty.isProven {
                honesty.leaseOmissions += 1
                if honesty.leaseOmissions > 1 {
                    honesty.leaseOmissions = 0
                    pause(.refused(recordsLeftOut), now)
                }
            }
            takenBack()
        }
    }

    /// Publishes everything again, because others have taken it back or the zone was restored from an older state.
    private mutating func takenBack() {
        (lease.phase, lease.isAcknowledged) = (.fresh, false)
        (lease.current, lease.pending, lease.endsAt) = (nil, nil, nil)
        for number in items.keys where items[number]?.stage == .wanted {
            items[number]?.changed()
            items[number]?.claim = .free
        }
        lists = [:]
        host.lost()
    }

    /// Removes the host and then the lease, once nothing is wanted any more.
    mutating func sendEnd(_ now: Duration) {
        if !items.values.contains(where: { $0.stage == .wanted }) { host.withdraw(into: &hostsToRemove, hostName) }
        for (name, isForgotten) in hostsToRemove where !hostsInFlight.contains(name) && room > 0 {
            removeHost(name, onlyEntry: isForgotten)
        }
        guard items.isEmpty, hostsToRemove.isEmpty, !host.mayExist, unread.isEmpty, flights.isEmpty, lease.mayExist
        else { return }
        if !leftovers.isEmpty {
            leftoversDueAt = now
            return takeLeftovers(now)
        }
        var update = ZoneUpdate()
        update.removeLease(of: id, layout)
        // Nothing new is sent until the lease is known to exist or is written again.
        (lease.isInFlight, lease.isDoubtful, lease.isAcknowledged) = (true, true, false)
        send(.leaseRemoval, .update(update, subject: "\(layout.lease(of: id))"))
    }

    mutating func leaseRemoved(_ reply: ZoneReply, _ now: Duration) {
        lease.isInFlight = false
        switch reply {
        case .outcome(.done): lease = LeaseState()
        // The manifest lists something unknown here, because an update arrived late.
        case .outcome(.recordsExist): unread = Set(0..<ZoneLayout.shards)
        case .outcome(.refused(let error)): pause(.refused(error), now)
        case .outcome(.serverFailed): pause(.waiting(serverFailure), now)
        default: break
        }
    }

    var serverFailure: String { "the server of \(layout.root) answers SERVFAIL" }
}
