import DNSMessage

/// Takes back what a publisher that has gone has left: its services, its hosts, and at last its lease.
///
/// Every update holds only while the lease is exactly what was watched, and while each name is still that publisher's. Whatever does not
/// hold ends it: the publisher lives, or another janitor was first.
struct Reap: Sendable {
    /// What is asked for.
    enum Job: Hashable, Sendable {
        case manifest(Int)
        case owner(DomainName)
        case records([DomainName])
        case host(DomainName)
        case type(DomainName)
        case entries(Int)
        case lease
    }

    private enum Phase { case manifest, owners, records, hosts, types, entries, lease, done, ended }

    let id: PublisherID
    private let layout: ZoneLayout
    private let text: [UInt8]?
    private var phase = Phase.manifest
    private var waiting: [(Job, ZoneRequest)] = []
    private var underWay = 0
    private var holdings = Holdings()
    private var all: [Int: [DomainName]] = [:]
    private var owned: Set<DomainName> = []

    /// - Parameter lease: the text that was watched; nil if there was none.
    init(_ layout: ZoneLayout, id: PublisherID, lease text: [UInt8]?) {
        self.layout = layout
        self.id = id
        self.text = text
        waiting = (0..<ZoneLayout.shards).map { (.manifest($0), .ask(layout.manifest($0, of: id), .ptr)) }
    }

    /// All is taken back.
    var isDone: Bool { phase == .done }
    /// Nothing more is asked.
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
        case (.manifest(let shard), .records(let records)):
            for name in records.targets {
                holdings.add(name, in: layout)
                all[shard, default: []].append(name)
            }
        case (.owner(let name), .records(let owners)):
            if owners == [id.ownership(of: name)] { owned.insert(name) }
        case (_, .outcome(.done)): break
        // Other services of the type are there.
        case (.type, .outcome(.recordsExist)): break
        // Only that host may write its name: it stays, and is the host's when it returns.
        case (.host, .outcome(.refused)): break
        default:
            phase = .ended
            waiting = []
        }
        if waiting.isEmpty, underWay == 0, phase != .ended { prepareNextPhase() }
    }

    private mutating func prepareNextPhase() {
        switch phase {
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
