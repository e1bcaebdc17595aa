import DNSMessage
package import DNSSD
package import Discovery

/// Publishes services in one domain. A value: receives wishes and answers with their times, and returns what to do
/// next.
///
/// A publisher creates a lease, the names of its host and services, in this order: nothing exists without the lease that lets
/// others take it back, and no service without the host to which it points. Every update has prerequisites, so that it
/// does no harm if it arrives late, twice, or after another publisher's.
package struct ZonePublisher: Sendable {
    /// What the caller must do.
    package enum Step: Sendable {
        /// Send a request, and pass its reply to `received` with this number.
        case request(Int, ZoneRequest)
        /// Report a fact about a registration.
        case report(registration: Int, PublicationFact)
        /// Forget a registration: nothing of it is left in the zone.
        case gone(registration: Int)
    }

    /// Why no requests are sent now.
    enum Trouble: Hashable, Sendable {
        case waiting(String)
        case refused(DiscoveryError)
    }

    /// The most messages under way.
    static let mostUnderWay = 16
    /// The most services in one message.
    static let mostInMessage = 50
    /// The approximate limit of a message in bytes.
    static let messageSize = 16_000
    /// The most names that are tried before a service is given up.
    static let mostRenames = 100

    package var layout: ZoneLayout { records.layout }
    package var id: PublisherID { records.id }
    let leaseSeconds: Int
    let records: PublisherRecords
    var random: SeededGenerator

    var lease: LeaseKeeper
    var hosts: MachineNames
    var items: [Int: ItemClaim] = [:]
    var names = HeldNames()
    var lists = TypeLists()
    var leftovers: Leftovers
    var janitor: Janitor
    /// Whether it takes back the records of others that are gone; one publisher of a process is enough.
    package var watches = true
    /// The number of publishers that were taken back.
    package var reaped: Int { janitor.reaped }

    var honesty = ServerHonesty()

    var gate = RequestGate()
    private var lookedAt = Duration.zero
    var flights: [Int: (flight: Flight, request: ZoneRequest)] = [:]
    private var lastTicket = 0
    private var lastItem = 0
    var steps: [Step] = []
    /// The number of updates that were sent.
    package private(set) var updates = 0
    /// The number of requests that were refused or not answered.
    package internal(set) var failures = 0

    /// Creates a publisher without services.
    /// - Parameters:
    ///   - layout: the domain's names.
    ///   - id: the publisher's id.
    ///   - isKnown: whether the id was used before, so that its manifest must be read.
    ///   - host: the wanted label of the host's name.
    ///   - ttl: the TTL of every record, in seconds.
    ///   - leaseSeconds: the length of the lease, moved into the allowed range.
    ///   - seed: the seed of everything random.
    package init(
        _ layout: ZoneLayout, id: PublisherID, isKnown: Bool, host: String, ttl: UInt32, leaseSeconds: Int, seed: UInt64
    ) {
        records = PublisherRecords(layout: layout, id: id, ttl: ttl)
        self.leaseSeconds = min(max(leaseSeconds, Lease.seconds.lowerBound), Lease.seconds.upperBound)
        hosts = MachineNames(records, label: host)
        leftovers = Leftovers(records, isKnown: isKnown)
        random = SeededGenerator(seed: seed)
        lease = LeaseKeeper(records, seconds: self.leaseSeconds, session: random.next())
        janitor = Janitor(layout, own: id, lease: .seconds(self.leaseSeconds), ttl: ttl, seed: random.next())
    }

    // MARK: Wishes

    /// Publishes a service, or an alias, until it is withdrawn.
    /// - Returns: the number of the registration.
    package mutating func publish(
        _ service: OfferedService, onConflict policy: ConflictPolicy, isPersistent: Bool
    ) -> Int {
        lastItem += 1
        guard let names = InstanceNames(service, as: service.name) else {
            let error =
                service.wildcardFault ?? service.aliasFault
                ?? DiscoveryError(.invalidServiceName, "\(service.instance) is longer than a DNS name can be")
            steps += [
                .report(registration: lastItem, PublicationFact(name: service.name, state: .failed(error))),
                .gone(registration: lastItem),
            ]
            return lastItem
        }
        let item = ItemClaim(service, policy: policy, isPersistent: isPersistent, names: names)
        items[lastItem] = item
        // Whoever waits for it is told at once what the server says now, also of the addresses that it needs.
        if !isPersistent { _ = hosts.change(item.role) { $0.retryNow() } }
        switch gate.trouble {
        case .waiting(let reason): report(lastItem, .waiting(reason))
        case .refused(let error):
            report(lastItem, isPersistent ? .refused(error) : .registering)
            if !isPersistent { gate.openSoon(lookedAt) }
        case nil: report(lastItem, .registering)
        }
        return lastItem
    }

    /// Replaces a service's port or TXT record.
    package mutating func update(_ registration: Int, _ body: (inout OfferedService) -> Void) {
        items[registration]?.update(body)
    }

    /// Withdraws a service; the step `gone` follows when that is done.
    package mutating func withdraw(_ registration: Int) {
        guard items[registration]?.isWanted == true else { return }
        if items[registration]?.withdraw() == false { forget(registration) }
        // The process may end, and has no time to wait for the next try.
        if !wantsAnything { retryNow() }
    }

    /// The host's addresses were looked at, and are those.
    package var knowsAddresses: Bool { hosts.addresses != nil }

    /// Publishes other addresses of the host.
    package mutating func addressesBecame(_ addresses: Set<IPAddress>) { hosts.became(addresses) }

    /// Checks the lease now, because others may have taken it back.
    package mutating func doubtLease() { lease.mayBeGone() }

    /// The machine has slept. Its lease went on meanwhile, for whoever watches it, and the time of its renewal did not.
    package mutating func slept() {
        doubtLease()
        lease.renew(at: lookedAt)
    }

    /// What was refused, or not answered, may succeed now: nothing waits for its next try.
    package mutating func retryNow() {
        gate.openSoon(lookedAt)
        retry()
    }

    /// Tries now what was refused: a publisher is gone that may have had the names.
    package mutating func retry() {
        hosts.retryNow()
        for number in items.keys { items[number]?.retrySoon() }
    }

    // MARK: Time

    /// Returns the steps to carry out now.
    package mutating func next(_ now: Duration) -> [Step] {
        lookedAt = now
        if let trouble = gate.tries(now) {
            // Only an answer ends the trouble, so something must be asked.
            doubtLease()
            // The answer to an update, where updates were refused.
            if case .refused = trouble { lease.renew(at: now) }
        }
        if gate.closedUntil == nil {
            if let request = lease.next(now, demand) { send(.lease, request) }
            if lease.allowsOthers(demand) { sendOthers(now) }
            if lease.isHeld, watches {
                for (job, request) in janitor.next(now, room: room) { send(.janitor(job), request) }
            }
        }
        defer { steps = [] }
        return steps
    }

    private mutating func sendOthers(_ now: Duration) {
        while room > 0, let (errand, request) = leftovers.nextQuestion() { send(.leftovers(errand), request) }
        if let due = leftovers.deadline, due <= now { takeLeftovers() }
        let needed = items.keys.sorted().compactMap { items[$0]?.neededRole }.uniqued()
        hosts.need(needed)
        for role in needed where room > 0 { sendHost(role, now) }
        leaveTakenAliases(now)
        sendPublications(now)
        // A name of the host goes once nothing is on it any more, and then the lease. What is sent may have failed meanwhile.
        let kept = Set(items.values.lazy.compactMap(\.neededRole))
        for end in hosts.withdraw(but: kept) { leftovers.add(end) }
        sendRemovals(now, kept)
        while room > 0, let (errand, request) = leftovers.nextRemoval() { send(.leftovers(errand), request) }
        guard items.isEmpty, !leftovers.hasHosts, !hosts.mayExist, leftovers.isRead, flights.isEmpty, lease.mayExist
        else { return }
        guard leftovers.isEmpty else {
            takeLeftovers()
            // Nothing is under way whose answer would be the next turn; none is left the second time.
            return sendOthers(now)
        }
        send(.lease, lease.remove())
    }

    /// Removes the leftovers that have not been published again.
    private mutating func takeLeftovers() {
        for left in leftovers.giveUp(but: hosts.names) where names.holder(of: left.instance) == nil {
            remove(leftover: left)
        }
    }

    mutating func remove(leftover: InstanceNames) {
        lastItem += 1
        items[lastItem] = ItemClaim(leftover: leftover)
        names.hold(leftover, for: lastItem)
    }

    private mutating func sendHost(_ role: HostRole, _ now: Duration) {
        guard let host = hosts[role], host.isReady(now) else { return }
        guard let name = host.name else {
            return putOff(role, now, host.fault)
        }
        // The name must be gone before it can be written again.
        guard !leftovers.has(host: name) else { return _ = hosts.change(role) { $0.retryNow() } }
        if case .alias = role, !host.mayExist, !host.isThere, let error = noRoom(for: 1, in: ZoneLayout.shard(of: name))
        {
            return putOff(role, now, error)
        }
        if hosts.addresses?.isEmpty == true {
            for number in items.keys {
                report(number, .waiting("this machine has no address by which others could reach it"))
            }
        }
        if let request = hosts.change(role, { $0.next() }) ?? nil { send(.host(role), request) }
    }

    /// Tries a name of the machine again later, and reports why.
    private mutating func putOff(_ role: HostRole, _ now: Duration, _ error: DiscoveryError) {
        let jitter = random.fraction()
        _ = hosts.change(role) { $0.retryLater(now, jitter: jitter) }
        refuseAll(on: role, error)
    }

    /// When to call `next` again unless something happens before. Whatever was due at the last call waits for an
    /// answer.
    package var deadline: Duration? {
        if let until = gate.closedUntil { return until }
        let times =
            items.values.map(\.retryAt) + hosts.retryTimes + [leftovers.deadline]
            + (lease.isHeld ? [lease.renewAt, watches ? janitor.deadline : nil] : [])
        return times.compactMap(\.self).filter { $0 > lookedAt }.min()
    }

    // MARK: Parts

    /// Whether something is to be in the zone.
    private var wantsAnything: Bool { items.values.contains(where: \.isWanted) }

    private var demand: LeaseKeeper.Demand {
        if wantsAnything || leftovers.hasHosts || hosts.mayExist { return .records }
        return items.isEmpty ? .nothing : .removal
    }

    var room: Int { Self.mostUnderWay - flights.count }

    mutating func send(_ flight: Flight, _ request: ZoneRequest) {
        lastTicket += 1
        flights[lastTicket] = (flight, request)
        if case .update = request { updates += 1 }
        steps.append(.request(lastTicket, request))
    }

    /// Whether something is in the zone, may be, or is to be.
    var hasAnything: Bool { !items.isEmpty || leftovers.hasHosts || hosts.mayExist || lease.mayExist }

    /// Whether the host's addresses are needed.
    var needsAddresses: Bool { wantsAnything }

    /// When the lease ends, so that others may take the records back; nil without a lease.
    var leaseEnd: Duration? { lease.endsAt }

    /// The state of publishing, for `ZoneStatus`.
    var state: ZoneStatus.State {
        switch gate.trouble {
        case .waiting(let reason): .waiting(reason)
        case .refused(let error): .refused(error)
        case nil: lease.isHeld ? .held : .starting
        }
    }
}
