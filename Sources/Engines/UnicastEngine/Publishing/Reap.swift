import DNSMessage

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
