import DNSMessage
package import DNSSD
package import Discovery

/// Publishes services in one domain: a value that is told what is wanted, what a server answers, and the time, and says what to ask next.
///
/// A publisher has a lease, a host name and services, in this order: nothing is there without the lease that lets others take it back, and
/// no service without the host that it points to. Every update has prerequisites, so that it may arrive late, twice, or after another
/// publisher's, and does no harm.
package struct ZonePublisher: Sendable {
    /// What is to be carried out.
    package enum Step: Sendable {
        /// Ask the server, and tell `received` under this number.
        case request(Int, ZoneRequest)
        /// Tell who publishes.
        case report(registration: Int, PublicationFact)
        /// Nothing of it is left in the zone, or ever was.
        case gone(registration: Int)
    }

    /// What a request is about.
    enum Flight: Sendable {
        case index
        case lease(Lease, sentAt: Duration)
        case leaseCheck
        case leaseRemoval
        case manifest(Int)
        case host(version: Int)
        case hostOwner
        case hostAddresses(RecordType)
        case hostRemoval(DomainName)
        case hostClearing(DomainName)
        case listing(DomainName)
        case publication([Int: Int])
        case owner(Int)
        case limit(Int)
        case removal([Int])
        case clearing([Int])
        case janitor(Janitor.Job)

        /// It asks, and what comes of it matters to the publisher itself.
        var isQuestion: Bool {
            switch self {
            case .index, .leaseCheck, .manifest, .hostOwner, .hostAddresses, .listing, .owner, .limit: true
            default: false
            }
        }
    }

    /// Why nothing is asked now.
    enum Trouble: Hashable, Sendable {
        case waiting(String)
        case refused(DiscoveryError)
    }

    /// The most messages under way.
    static let mostUnderWay = 16
    /// The most services in one message, and about how many bytes.
    static let mostInMessage = 50
    static let messageSize = 16_000
    /// How long what an earlier process has left may stay, so that it can be wanted again.
    static let grace = Duration.seconds(10)
    /// How many names are tried before a service is given up.
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
    /// Which item has a name.
    var holders: [DomainName: Int] = [:]
    /// How many entries each shard of the manifest has.
    var entries = [Int](repeating: 0, count: ZoneLayout.shards)
    /// The services that are listed at a type, and when that was read.
    var lists: [DomainName: (names: Set<DomainName>, readAt: Duration)] = [:]
    var listsAsked: Set<DomainName> = []
    /// Shards of the manifest that are to be read.
    var unread: Set<Int>
    var unreadInFlight: Set<Int> = []
    var leftovers = Holdings()
    var leftoversDueAt: Duration?
    /// Hosts of this publisher that are to go; true: only the manifest's entry is left.
    var hostsToRemove: [DomainName: Bool] = [:]
    var hostsInFlight: Set<DomainName> = []
    var janitor: Janitor
    /// It takes back what others have left; of the publishers of one process one is enough.
    package var watches = true
    /// How many publishers that had gone were taken back.
    package var reaped: Int { janitor.reaped }

    var flights: [Int: Flight] = [:]
    private var lastTicket = 0
    var lastItem = 0
    private(set) var trouble: Trouble?
    private var pausedUntil: Duration?
    private var lookedAt = Duration.zero
    private var pause = RetryDelay()
    var steps: [Step] = []
    /// How many updates were sent, and how many of them led to nothing.
    package internal(set) var updates = 0
    package internal(set) var failures = 0

    /// - Parameters:
    ///   - isKnown: the id was used before, and its manifest says what is left of that.
    ///   - ttl: of every record, in seconds.
    ///   - seed: of all that is random.
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

    // MARK: What is wanted

    /// Publishes a service from now on.
    /// - Returns: the number of the registration.
    package mutating func publish(
        _ service: OfferedService, onConflict policy: ConflictPolicy, isPersistent: Bool
    ) -> Int {
        lastItem += 1
        guard let names = InstanceNames(service, as: service.name) else {
            let error = DiscoveryError(.invalidServiceName, "\(service.instance) is longer than a DNS name can be")
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

    /// Replaces a service's TXT record.
    package mutating func update(_ registration: Int, txt: TXTRecord) {
        guard items[registration]?.stage == .wanted, items[registration]?.service?.txt != txt else { return }
        items[registration]?.service?.txt = txt
        items[registration]?.changed()
    }

    /// Withdraws a service; `gone` says when that is done.
    package mutating func withdraw(_ registration: Int) {
        guard let item = items[registration], item.stage == .wanted else { return }
        guard item.mayExist else { return forget(registration) }
        items[registration]?.stage = .removing
        items[registration]?.retryAt = nil
    }

    /// This host's addresses, as others are to reach it.
    package mutating func addressesBecame(_ addresses: Set<IPAddress>) { host.became(addresses) }

    /// Others may have taken it back: it is looked at before its time.
    package mutating func doubtLease() { lease.isDoubtful = lease.isHeld }

    // MARK: Time

    /// What is to be carried out now.
    package mutating func next(_ now: Duration) -> [Step] {
        lookedAt = now
        if pausedUntil.map({ $0 <= now }) ?? false {
            pausedUntil = nil
            // So that something is asked, whose answer ends the trouble.
            doubtLease()
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

    /// When to call `next` again, if nothing happens before. What was due at the last call waits for an answer.
    package var deadline: Duration? {
        if let pausedUntil { return pausedUntil }
        let times =
            items.values.map(\.retryAt) + [host.retryAt, leftoversDueAt]
            + (lease.isHeld ? [lease.renewAt, watches ? janitor.deadline : nil] : [])
        return times.compactMap(\.self).filter { $0 > lookedAt }.min()
    }

    // MARK: Answers

    /// What came of a request.
    package mutating func received(_ reply: ZoneReply, to ticket: Int, _ now: Duration) {
        guard let flight = flights.removeValue(forKey: ticket) else { return }
        switch reply {
        case .outcome(.unheard(let reason)): pause(.waiting(reason), now)
        case .outcome(.refused(let error)) where flight.isQuestion: pause(.refused(error), now)
        case .outcome(.serverFailed) where flight.isQuestion: pause(.waiting(serverFailure), now)
        case .outcome(.refused), .outcome(.serverFailed): failures += 1
        // To be answered a question says nothing of what may be written.
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
        case .owner(let item): ownerRead(item, reply, now)
        case .limit(let item): limitRead(item, reply, now)
        case .removal(let removed): recordsRemoved(removed, reply, now)
        case .clearing(let cleared): itemsCleared(cleared, reply, now)
        case .janitor(let job): janitor.received(reply, to: job, now)
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

    /// Asks nothing for a while, and tells everyone why.
    mutating func pause(_ trouble: Trouble, _ now: Duration) {
        if case .waiting = trouble { failures += 1 }
        // Of several messages that were under way the first one counts.
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
        lease.isDoubtful = lease.isHeld
        // It may have been started with an older zone.
        for number in items.keys where items[number]?.isOutdated == false { items[number]?.changed() }
        host.version += 1
    }
}
