import DNSMessage
package import DNSSD
package import Discovery

/// Publishes services in one domain. A value: receives wishes and answers with their times, and returns what to do
/// next.
///
/// A publisher creates a lease, a host name and services, in this order: nothing exists without the lease that lets
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
    /// How long the leftovers of an earlier process stay, so that they can be published again.
    static let grace = Duration.seconds(10)
    /// The most names that are tried before a service is given up.
    static let mostRenames = 100

    package let layout: ZoneLayout
    package let id: PublisherID
    let ttl: UInt32
    let leaseSeconds: Int
    let session: UInt64
    var random: SeededGenerator

    var lease = LeaseState()
    var host: HostState
    var items: [Int: PublishedItem] = [:]
    /// The item that holds each name.
    var holders: [DomainName: Int] = [:]
    /// The number of entries in each shard of the manifest.
    var entries = [Int](repeating: 0, count: ZoneLayout.shards)
    /// The services listed under each type, and when the list was read.
    var lists: [DomainName: (names: Set<DomainName>, readAt: Duration)] = [:]
    var listsAsked: Set<DomainName> = []
    /// The shards of the manifest that must still be read.
    var unread: Set<Int>
    var unreadInFlight: Set<Int> = []
    var leftovers = Holdings()
    var leftoversDueAt: Duration?
    /// This publisher's hosts that must be removed; true if only the manifest's entry is left.
    var hostsToRemove: [DomainName: Bool] = [:]
    var hostsInFlight: Set<DomainName> = []
    var janitor: Janitor
    /// Whether it takes back the records of others that are gone; one publisher of a process is enough.
    package var watches = true
    /// The number of publishers that were taken back.
    package var reaped: Int { janitor.reaped }

    var honesty = ServerHonesty()

    var flights: [Int: Flight] = [:]
    private var lastTicket = 0
    var lastItem = 0
    private(set) var trouble: Trouble?
    private var pausedUntil: Duration?
    private var lookedAt = Duration.zero
    private var pause = RetryDelay()
    var steps: [Step] = []
    /// The number of updates that were sent.
    package internal(set) var updates = 0
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
        self.layout = layout
        self.id = id
        self.ttl = ttl
        self.leaseSeconds = min(max(leaseSeconds, Lease.seconds.lowerBound), Lease.seconds.upperBound)
        self.host = HostState(label: host)
        unread = isKnown ? Set(0..<ZoneLayout.shards) : []
        random = SeededGenerator(seed: seed)
        session = random.next()
        janitor = Janitor(layout, own: id, lease: .seconds(self.leaseSeconds), ttl: ttl, seed: random.next())
    }

    // MARK: Wishes

    /// Publishes a service until it is withdrawn.
    /// - Returns: the number of the registration.
    package mutating func publish(
        _ service: OfferedService, onConflict policy: ConflictPolicy, isPersistent: Bool
    ) -> Int {
        lastItem += 1
        guard let names = InstanceNames(service, as: service.name) else {
            let error =
                service.wildcardFault
                ?? DiscoveryError(.invalidServiceName, "\(service.instance) is longer than a DNS name can be")
            steps += [
                .report(registration: lastItem, PublicationFact(name: service.name, state: .failed(error))),
                .gone(registration: lastItem),
            ]
            return lastItem
        }
        items[lastItem] = PublishedItem(
            service: service, policy: policy, isPersistent: isPersistent, name: service.name, names: names,
            stage: .wanted)
        switch trouble {
        case .waiting(let reason): report(lastItem, .waiting(reason))
        case .refused(let error): report(lastItem, isPersistent ? .refused(error) : .registering)
        case nil: report(lastItem, .registering)
        }
        return lastItem
    }

    /// Replaces a service's port or TXT record.
    package mutating func update(_ registration: Int, _ body: (inout OfferedService) -> Void) {
        guard let item = items[registration], item.stage == .wanted, var service = item.service else { return }
        body(&service)
        guard service != item.service else { return }
        items[registration]?.service = service
        items[registration]?.changed()
    }

    /// Withdraws a service; the step `gone` follows when that is done.
    package mutating func withdraw(_ registration: Int) {
        guard let item = items[registration], item.stage == .wanted else { return }
        if item.mayExist {
            items[registration]?.stage = .removing
            items[registration]?.retryAt = nil
        } else {
            forget(registration)
        }
        // The process may end, and has no time to wait for the next try.
        if !items.values.contains(where: { $0.stage == .wanted }) { retryNow() }
    }

    /// The host's addresses were looked at, and are those.
    package var knowsAddresses: Bool { host.isLookedAt }

    /// Publishes other addresses of the host.
    package mutating func addressesBecame(_ addresses: Set<IPAddress>) { host.became(addresses) }

    /// Checks the lease now, because others may have taken it back.
    package mutating func doubtLease() { (lease.isDoubtful, lease.isAcknowledged) = (lease.isHeld, false) }

    /// What was refused, or not answered, may succeed now: nothing waits for its next try.
    package mutating func retryNow() {
        if pausedUntil != nil { pausedUntil = lookedAt }
        pause.succeeded()
        host.retryAt = nil
        retry()
    }

    // MARK: Time

    /// Returns the steps to carry out now.
    package mutating func next(_ now: Duration) -> [Step] {
        lookedAt = now
        if pausedUntil.map({ $0 <= now }) ?? false {
            pausedUntil = nil
            // Only an answer ends the trouble, so something must be asked.
            doubtLease()
            // The answer to an update, where updates were refused.
            if case .refused = trouble { lease.renewAt = now }
        }
        if pausedUntil == nil {
            if sendLease(now) {
                readManifest(now)
                sendHost(now)
                sendPublications(now)
                sendRemovals(now)
                sendEnd(now)
            }
            if lease.isHeld, watches {
                for (job, request) in janitor.next(now, room: room) { send(.janitor(job), request) }
            }
        }
        defer { steps = [] }
        return steps
    }

    /// When to call `next` again unless something happens before. Whatever was due at the last call waits for an
    /// answer.
    package var deadline: Duration? {
        if let pausedUntil { return pausedUntil }
        let times =
            items.values.map(\.retryAt) + [host.retryAt, leftoversDueAt]
            + (lease.isHeld ? [lease.renewAt, watches ? janitor.deadline : nil] : [])
        return times.compactMap(\.self).filter { $0 > lookedAt }.min()
    }

    // MARK: Answers

    /// Takes in the reply to a request.
    package mutating func received(_ reply: ZoneReply, to ticket: Int, _ now: Duration) {
        guard let flight = flights.removeValue(forKey: ticket) else { return }
        switch reply {
        case .outcome(.unheard(let reason)): pause(.waiting(reason), now)
        case .outcome(.refused(let error)) where flight.isQuestion: pause(.refused(error), now)
        case .outcome(.serverFailed) where flight.isQuestion: pause(.waiting(serverFailure), now)
        case .outcome(.refused), .outcome(.serverFailed): failures += 1
        // The answer to a question does not show what may be written.
        case .records: if case .waiting = trouble { heard(now) }
        case .outcome: heard(now)
        }
        switch flight {
        case .index: indexRead(reply, now)
        case .lease(let lease, let sentAt): leaseSent(lease, reply, sentAt, now)
        case .leaseCheck: leaseRead(reply, now)
        case .leaseRemoval: leaseRemoved(reply, now)
        case .manifest(let shard): manifestRead(shard, reply, now)
        case .host(let version): hostSent(version, reply, now)
        case .hostOwner: hostOwnerRead(reply, now)
        case .hostAddresses(let type): hostAddressesRead(type, reply, now)
        case .hostRemoval(let name): hostRemoved(name, reply, now)
        case .hostClearing(let name): hostCleared(name, reply, now)
        case .listing(let list): listRead(list, reply, now)
        case .publication(let versions): published(versions, reply, now)
        case .proof(let versions): proofReceived(versions, reply, now)
        case .owner(let item): ownerRead(item, reply, now)
        case .name(let item): nameAnswered(item, reply, now)
        case .limit(let item): limitRead(item, reply, now)
        case .removal(let removed): recordsRemoved(removed, reply, now)
        case .clearing(let cleared): itemsCleared(cleared, reply, now)
        case .janitor(let job):
            let before = janitor.reaped
            janitor.received(reply, to: job, now)
            if janitor.reaped > before { retry() }
        }
    }

    // MARK: Parts

    var room: Int { Self.mostUnderWay - flights.count }

    mutating func send(_ flight: Flight, _ request: ZoneRequest) {
        lastTicket += 1
        flights[lastTicket] = flight
        if case .update = request { updates += 1 }
        steps.append(.request(lastTicket, request))
    }

    /// Sends nothing for a while, and reports the reason for every service.
    mutating func pause(_ trouble: Trouble, _ now: Duration) {
        if case .waiting = trouble { failures += 1 }
        // Only the first failure of several messages under way prolongs the delay.
        if pausedUntil == nil { pausedUntil = now + pause.failed(random.fraction()) }
        self.trouble = trouble
        for (number, item) in items where item.stage == .wanted {
            switch trouble {
            case .waiting(let reason): report(number, .waiting(reason))
            case .refused(let error): refuse(number, error)
            }
        }
    }

    /// The server has answered.
    private mutating func heard(_ now: Duration) {
        guard trouble != nil, pausedUntil == nil else { return }
        trouble = nil
        pause.succeeded()
        doubtLease()
        // The server may have been restarted with an older zone.
        for number in items.keys where items[number]?.isOutdated == false { items[number]?.changed() }
        host.version += 1
    }
}
