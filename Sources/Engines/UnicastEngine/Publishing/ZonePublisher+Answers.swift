import DNSMessage
import DNSSD
import Discovery

extension ZonePublisher {
    /// The subject of a request under way.
    enum Flight: Sendable {
        case lease
        case host(HostRole)
        case leftovers(Leftovers.Errand)
        case janitor(Janitor.Job)
        case listing(DomainName)
        case publication([Int: Int])
        case proof([Int: Int])
        case aliasProof(Int, DomainName, version: Int)
        case owner(Int)
        case name(Int)
        case limit(Int)
        case removal([Int])
        case clearing([Int])

        /// Returns whether a request is a question of the publisher itself, which means that nothing goes on without an answer.
        func isOwnQuestion(_ request: ZoneRequest) -> Bool {
            guard case .ask = request else { return false }
            switch self {
            case .name, .janitor: return false
            default: return true
            }
        }
    }

    /// Takes in the reply to a request.
    package mutating func received(_ reply: ZoneReply, to ticket: Int, _ now: Duration) {
        guard let (flight, request) = flights.removeValue(forKey: ticket) else { return }
        switch reply {
        case .outcome(.unheard(let reason)): pause(.waiting(reason), now)
        case .outcome(.refused(let error)) where flight.isOwnQuestion(request): pause(.refused(error), now)
        case .outcome(.serverFailed) where flight.isOwnQuestion(request):
            pause(.waiting(records.serverFailure), now)
        case .outcome(.refused), .outcome(.serverFailed): failures += 1
        // The answer to a question does not show what may be written.
        case .records: if case .waiting = gate.trouble { heard() }
        case .outcome: heard()
        }
        switch flight {
        case .lease:
            for notice in lease.received(reply, now, jitter: random.fraction()) { leaseBecame(notice, now) }
        case .host(let role):
            let jitter = random.fraction()
            let notices = hosts.change(role) { $0.received(reply, now, jitter: jitter) }
            for notice in notices ?? [] { hostBecame(notice, role, now) }
        case .leftovers(let errand):
            for notice in leftovers.received(reply, to: errand, now) { leftoversBecame(notice, now) }
        case .janitor(let job):
            let before = janitor.reaped
            janitor.received(reply, to: job, now)
            if janitor.reaped > before { retry() }
        case .listing(let list): lists.read(list, reply, now)
        case .publication(let versions): published(versions, reply, now)
        case .proof(let versions): proofReceived(versions, reply, now)
        case .aliasProof(let item, let name, let version): aliasProofReceived(item, name, version, reply, now)
        case .owner(let item): ownerRead(item, reply, now)
        case .name(let item): nameAnswered(item, reply, now)
        case .limit(let item): limitRead(item, reply, now)
        case .removal(let removed): recordsRemoved(removed, reply, now)
        case .clearing(let cleared): itemsCleared(cleared, reply, now)
        }
    }

    private mutating func leaseBecame(_ notice: LeaseKeeper.Notice, _ now: Duration) {
        switch notice {
        case .renewed:
            hosts.lookAgain()
            for number in items.keys where items[number]?.leaseWasRenewed() == true {
                guard let item = items[number], item.isAlias else { continue }
                _ = hosts.change(item.role) { $0.writeAgain() }
            }
        case .isThere: honesty.foundLease()
        case .leftOut:
            // It was written a moment ago, and nothing could be published with it.
            guard !hosts.isWritten, !honesty.isProven, honesty.missedLease() else { return }
            pause(.refused(records.leftOut), now)
        case .takenBack:
            for number in items.keys { items[number]?.takenBack() }
            lists.forgetAll()
            hosts.lost()
        case .manifestIsNotEmpty: leftovers.readAgain()
        case .pause(let trouble): pause(trouble, now)
        }
    }

    private mutating func hostBecame(_ notice: HostClaim.Notice, _ role: HostRole, _ now: Duration) {
        switch notice {
        case .written: hostIsWritten(role)
        case .moved:
            for (number, item) in items where item.role == role && item.mayExist { items[number]?.changed() }
        case .taken: aliasWasTaken(role, now)
        case .refused(let error): refuseAll(on: role, error)
        case .leaseIsDoubtful: lease.doubt()
        }
    }

    /// What is on a name of the machine, and was refused as long as its addresses were, is there as before. After a trouble it is published again.
    private mutating func hostIsWritten(_ role: HostRole) {
        guard gate.trouble == nil else { return }
        for (number, item) in items where item.role == role && item.isOwn && !item.isOutdated {
            report(number, .established)
        }
    }

    private mutating func leftoversBecame(_ notice: Leftovers.Notice, _ now: Duration) {
        switch notice {
        case .read:
            for left in leftovers.services {
                guard let holder = names.holder(of: left.instance) else { continue }
                _ = leftovers.takeOver(left.instance)
                items[holder]?.foundStale(left)
            }
        case .pause(let trouble): pause(trouble, now)
        }
    }

    /// Sends nothing for a while, and reports the reason for every service.
    private mutating func pause(_ trouble: Trouble, _ now: Duration) {
        if case .waiting = trouble { failures += 1 }
        gate.close(trouble, now, jitter: random.fraction())
        switch trouble {
        case .waiting(let reason): for number in items.keys { report(number, .waiting(reason)) }
        case .refused(let error): refuseAll(error)
        }
    }

    /// The server has answered.
    private mutating func heard() {
        guard gate.answered() else { return }
        doubtLease()
        // The server may have been restarted with an older zone.
        for number in items.keys where items[number]?.isOutdated == false { items[number]?.changed() }
        hosts.writeAgain()
    }

    // MARK: Reports

    mutating func report(_ number: Int, _ state: PublicationFact.State) {
        if let fact = items[number]?.report(state) { steps.append(.report(registration: number, fact)) }
    }

    /// The server refuses a service, which ends it if it was never established and is not persistent.
    mutating func refuse(_ number: Int, _ error: DiscoveryError) {
        guard items[number]?.isKept == false else { return report(number, .refused(error)) }
        end(number, .failed(error))
    }

    /// Reports a final state, and removes what the server may have of the service.
    mutating func end(_ number: Int, _ state: PublicationFact.State) {
        report(number, state)
        withdraw(number)
    }

    /// - Parameter role: only what is on this name of the machine; nil for all.
    mutating func refuseAll(on role: HostRole? = nil, _ error: DiscoveryError) {
        for (number, item) in items where item.isWanted && (role == nil || role == item.role) { refuse(number, error) }
    }

    /// Forgets an item of which nothing is left in the zone.
    mutating func forget(_ number: Int) {
        if let item = items[number] { names.release(item.names, of: number) }
        roomWasMade()
        guard let item = items.removeValue(forKey: number), item.service != nil else { return }
        steps.append(.gone(registration: number))
    }
}
