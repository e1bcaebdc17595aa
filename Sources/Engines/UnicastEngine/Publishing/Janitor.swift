import DNSMessage
import DNSSD

/// Watches the leases of a domain's other publishers, and takes back the records of those that are gone.
///
/// Hosts' clocks are not compared. A lease has expired if its text stayed the same for its whole length, while it was read
/// again and again. Between two readings at most a quarter of its length counts, and an eighth if the server did not answer
/// meanwhile, because then its publisher may not have reached it either; after more than its length, watching begins anew.
struct Janitor: Sendable {
    /// The subject of a request.
    enum Job: Hashable, Sendable {
        case index(Int)
        case lease(PublisherID)
        case reap(Reap.Job)
    }

    private struct Observation {
        /// The lease's text; nil if there is no lease, though the index lists one.
        var text: [UInt8]?
        var length: Duration
        /// How much of its length has passed with this text.
        var passed = Duration.zero
        var readAt: Duration
    }

    /// The most publishers that are watched.
    private static let mostPublishers = 4096

    private let layout: ZoneLayout
    private let own: PublisherID
    private let length: Duration
    private let ttl: UInt32
    private var random: SeededGenerator
    private var observations: [PublisherID: Observation] = [:]
    private var listed: Set<PublisherID> = []
    private var waiting: [Job] = []
    private var underWay: [Job: Duration] = [:]
    /// The parts of the index that this round has not read.
    private var unread = ZoneLayout.shards
    /// When a question was last not answered.
    private var failedAt: Duration?
    private var roundAt: Duration?
    private var expired: [PublisherID] = []
    private var reap: Reap?
    /// When to take back the next expired publisher; spread, so that not all janitors do it at once.
    private var reapAt: Duration?
    /// The number of publishers that were taken back.
    private(set) var reaped = 0

    init(_ layout: ZoneLayout, own: PublisherID, lease: Duration, ttl: UInt32, seed: UInt64) {
        self.layout = layout
        self.own = own
        self.ttl = ttl
        length = lease
        random = SeededGenerator(seed: seed)
    }

    /// When to call `next` again; nil before the first call.
    var deadline: Duration? {
        [roundAt, reapAt].compactMap(\.self).min()
    }

    /// Returns the requests to send now.
    /// - Parameters:
    ///   - now: the time.
    ///   - room: the most requests to return.
    mutating func next(_ now: Duration, room: Int) -> [(Job, ZoneRequest)] {
        guard let round = roundAt else {
            // The first round comes later: the publisher has other things to do.
            roundAt = now + interval()
            return []
        }
        if round <= now, waiting.isEmpty, underWay.keys.allSatisfy(\.isReaping) {
            waiting = (0..<ZoneLayout.shards).map { .index($0) }
            (listed, unread) = ([], ZoneLayout.shards)
            roundAt = now + interval()
        }
        var requests: [(Job, ZoneRequest)] = []
        // Takes only half of the places, because publishing comes first.
        while requests.count < min(room, ZonePublisher.mostUnderWay / 2), let job = waiting.popLast() {
            underWay[job] = now
            switch job {
            case .index(let shard): requests.append((job, .ask(layout.index(shard), .ptr)))
            case .lease(let id): requests.append((job, .ask(layout.lease(of: id), .txt)))
            case .reap: break
            }
        }
        startReap(now)
        while requests.count < room, let (job, request) = reap?.next() {
            underWay[.reap(job)] = now
            requests.append((.reap(job), request))
        }
        return requests
    }

    /// Takes in the reply to a request.
    mutating func received(_ reply: ZoneReply, to job: Job, _ now: Duration) {
        guard let askedAt = underWay.removeValue(forKey: job) else { return }
        if case .outcome = reply, !job.isReaping { failedAt = now }
        switch job {
        case .index(let shard): indexRead(reply, shard, now)
        case .lease(let id): leaseRead(reply, of: id, askedAt, now)
        case .reap(let job):
            reap?.received(reply, to: job)
            guard let current = reap, current.isOver else { return }
            if current.isDone { reaped += 1 }
            // A publisher that came back, or that another janitor took back, is watched from the beginning.
            observations[current.id] = nil
            reap = nil
        }
    }

    /// Returns the time between two rounds: less than an eighth of the shortest lease, to allow for late timers and
    /// answers, and spread, so that not all janitors ask at once.
    private mutating func interval() -> Duration {
        let shortest = min(observations.values.map(\.length).min() ?? length, length)
        return shortest / 12 * (0.8 + 0.3 * random.fraction())
    }

    private mutating func indexRead(_ reply: ZoneReply, _ shard: Int, _ now: Duration) {
        guard case .records(let records) = reply else { return }
        let ids = records.targets.compactMap { layout.publisher(at: $0) }.filter { $0.shard == shard && $0 != own }
        for id in ids where listed.count < Self.mostPublishers && listed.insert(id).inserted {
            waiting.insert(.lease(id), at: 0)
        }
        unread -= 1
        guard unread == 0 else { return }
        for id in observations.keys where !listed.contains(id) { observations[id] = nil }
    }

    private mutating func leaseRead(_ reply: ZoneReply, of id: PublisherID, _ askedAt: Duration, _ now: Duration) {
        guard case .records(let records) = reply else { return }
        let text = records.text
        guard var known = observations[id], known.text == text, askedAt - known.readAt <= known.length else {
            let length = text.map { Lease(read: $0).length } ?? length
            observations[id] = Observation(text: text, length: length, readAt: now)
            // A shorter lease than the others must be read sooner.
            roundAt = roundAt.map { min($0, now + interval()) }
            return
        }
        // The text was the same when it was asked for, whenever the answer came.
        let most = known.length / (failedAt.map { $0 >= known.readAt } ?? false ? 8 : 4)
        known.passed += min(max(askedAt - known.readAt, .zero), most)
        known.readAt = max(askedAt, known.readAt)
        observations[id] = known
        if known.passed >= known.length, !expired.contains(id), reap?.id != id {
            expired.append(id)
            reapAt = reapAt ?? now + min(.seconds(2), known.length / 16) * random.fraction()
        }
    }

    private mutating func startReap(_ now: Duration) {
        guard reap == nil, let due = reapAt, due <= now else { return }
        while let id = expired.popLast() {
            // If the lease has been renewed since, the update's prerequisite does not hold.
            guard let known = observations[id] else { continue }
            let mark = Lease(session: random.next(), count: 0, seconds: Int(clamping: known.length.components.seconds))
            reap = Reap(layout, id: id, lease: known.text, mark: mark, ttl: ttl)
            break
        }
        reapAt = expired.isEmpty ? nil : now + .seconds(1)
    }
}

extension Janitor.Job {
    fileprivate var isReaping: Bool { if case .reap = self { true } else { false } }
}

/// Takes back the records of a publisher that is gone: its services, its hosts, and at last its lease.
///
/// First the lease gets a text of the janitor's own, provided that it still has the text that was watched. A publisher
/// that wakes up can then no longer renew it: it notices, and publishes everything again. Every further update has as
/// prerequisites that the lease has the janitor's text and that each name still belongs to the publisher. If one does
/// not hold, the publisher lives or another janitor was first, and this one stops. A janitor that ends early leaves a
/// lease that no one renews, for the next janitor.
struct Reap: Sendable {
    /// The subject of a request.
    enum Job: Hashable, Sendable {
        case claim
        case manifest(Int)
        case owner(DomainName)
        case records([DomainName])
        case host(DomainName)
        case type(DomainName)
        case entries(Int)
        case lease
    }

    private enum Phase { case claim, manifest, owners, records, hosts, types, entries, lease, done, ended }

    let id: PublisherID
    private let layout: ZoneLayout
    private let mark: Lease
    /// The text that the lease must have; nil if there must be no lease.
    private var text: [UInt8]?
    private var phase = Phase.claim
    private var waiting: [(Job, ZoneRequest)] = []
    private var underWay = 0
    private var holdings = Holdings()
    private var all: [Int: [DomainName]] = [:]
    private var owned: Set<DomainName> = []

    /// - Parameters:
    ///   - layout: the domain's names.
    ///   - id: the publisher that is gone.
    ///   - text: the lease that was watched; nil if there was none.
    ///   - mark: the janitor's own lease, which replaces it.
    ///   - ttl: the TTL of its record, in seconds.
    init(_ layout: ZoneLayout, id: PublisherID, lease text: [UInt8]?, mark: Lease, ttl: UInt32) {
        self.layout = layout
        self.id = id
        self.text = text
        self.mark = mark
        waiting = [
            (.claim, update { $0.replace(layout.lease(of: id), .txt, with: .txt(mark.data), ttl: ttl) })
        ]
    }

    /// Whether everything is taken back.
    var isDone: Bool { phase == .done }
    /// Whether there are no more requests.
    var isOver: Bool { underWay == 0 && (phase == .done || phase == .ended) }

    mutating func next() -> (Job, ZoneRequest)? {
        while waiting.isEmpty, underWay == 0, phase != .done, phase != .ended { prepareNextPhase() }
        guard let request = waiting.popLast() else { return nil }
        underWay += 1
        return request
    }

    mutating func received(_ reply: ZoneReply, to job: Job) {
        underWay -= 1
        switch (job, reply) {
        case (.claim, .outcome(.done)): text = mark.data
        case (.manifest(let shard), .records(let records)):
            for name in records.targets {
                holdings.add(name, in: layout)
                all[shard, default: []].append(name)
            }
        case (.owner(let name), .records(let owners)):
            if owners == [id.ownership(of: name)] { owned.insert(name) }
        case (_, .outcome(.done)): break
        // There are other services of the type.
        case (.type, .outcome(.recordsExist)): break
        // Only that host may write its name: it stays for the host's return.
        case (.host, .outcome(.refused)): break
        default:
            phase = .ended
            waiting = []
        }
        if waiting.isEmpty, underWay == 0, phase != .ended { prepareNextPhase() }
    }

    private mutating func prepareNextPhase() {
        switch phase {
        case .claim:
            phase = .manifest
            waiting = (0..<ZoneLayout.shards).map { (.manifest($0), .ask(layout.manifest($0, of: id), .ptr)) }
        case .manifest:
            phase = .owners
            waiting = (Array(holdings.instances.keys) + holdings.hosts).map { (.owner($0), .ask($0, .dhcid)) }
        case .owners:
            phase = .records
            let names = holdings.instances.values.filter { owned.contains($0.instance) }
            waiting = stride(from: 0, to: names.count, by: ZonePublisher.mostInMessage).map { start in
                let part = Array(names[start..<min(start + ZonePublisher.mostInMessage, names.count)])
                return (.records(part.map(\.instance)), update { for names in part { $0.remove(names, of: id) } })
            }
        case .records:
            phase = .hosts
            waiting = holdings.hosts.filter { owned.contains($0) }.map { host in
                (.host(host), update { $0.remove(host: host, of: id) })
            }
        case .hosts:
            phase = .types
            waiting = Set(holdings.instances.values.map(\.list)).map { list in
                (.type(list), update { $0.removeType(list, layout) })
            }
        case .types:
            phase = .entries
            waiting = all.map { shard, names in
                (.entries(shard), update { $0.forget(names, in: shard, of: id, layout) })
            }
        case .entries:
            phase = .lease
            waiting = [(.lease, update { $0.removeLease(of: id, layout) })]
        case .lease: phase = .done
        case .done, .ended: break
        }
    }

    private func update(_ write: (inout ZoneUpdate) -> Void) -> ZoneRequest {
        var update = ZoneUpdate()
        if let text {
            update.require(layout.lease(of: id), .txt, .txt(text))
        } else {
            update.requireAbsent(layout.lease(of: id), .txt)
        }
        write(&update)
        return .update(update, subject: "\(layout.lease(of: id))")
    }
}
