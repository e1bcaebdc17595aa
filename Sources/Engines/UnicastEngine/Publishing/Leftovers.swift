import DNSMessage
import DNSSD

/// What the zone has of this publisher and nothing needs any more: what an earlier process with the same id left behind, read from the manifest, and
/// hosts that were given up.
struct Leftovers: Sendable {
    /// The subject of a request.
    enum Errand: Hashable, Sendable {
        case shard(Int)
        case host(DomainName)
    }

    /// What the server's replies mean for the rest of the publisher.
    enum Notice {
        /// More of the manifest is read: what is published again is no leftover.
        case read
        /// Nothing can be sent for a while.
        case pause(ZonePublisher.Trouble)
    }

    private enum State: Sendable {
        /// The shards of the manifest that must still be read; of some the server has been asked.
        case reading(Set<Int>, asked: Set<Int>)
        /// The leftovers can be published again until then.
        case keeping(until: Duration)
        case done
    }

    /// What is left of a host, and whether its removal is under way; the addresses go where the server left the owner out.
    private enum HostEnd: Sendable {
        case records(Set<IPAddress>)
        case removing(Set<IPAddress>)
        case entry(Set<IPAddress>)
        case forgetting(Set<IPAddress>)
    }

    /// How long they stay, so that they can be published again.
    static let grace = Duration.seconds(10)

    private let records: PublisherRecords
    private var state = State.done
    private var holdings = Holdings()
    private var hosts: [DomainName: HostEnd] = [:]

    /// - Parameter isKnown: whether the publisher's id was used before.
    init(_ records: PublisherRecords, isKnown: Bool) {
        self.records = records
        if isKnown { readAgain() }
    }

    // MARK: What is known

    /// Whether all of the manifest was read.
    var isRead: Bool { if case .reading = state { false } else { true } }
    /// Whether an earlier process left something.
    var isEmpty: Bool { holdings.isEmpty }
    var hasHosts: Bool { !hosts.isEmpty }
    func has(host: DomainName) -> Bool { hosts[host] != nil }
    /// The services that an earlier process left.
    var services: [InstanceNames] { Array(holdings.instances.values) }
    /// When they are given up; nil without any.
    var deadline: Duration? { if case .keeping(let until) = state, !holdings.isEmpty { until } else { nil } }

    // MARK: Events

    mutating func readAgain() { state = .reading(Set(0..<ZoneLayout.shards), asked: []) }

    /// A service is published again.
    /// - Returns: the names that its records had.
    mutating func takeOver(_ instance: DomainName) -> InstanceNames? { holdings.remove(instance) }

    /// A host of this process is needed no more.
    mutating func add(_ end: HostClaim.End) { hosts[end.name] = .records(end.addresses) }

    /// Removes the hosts that are left, but for the current ones.
    /// - Returns: the services that are left, and nobody keeps any more.
    mutating func giveUp(but current: Set<DomainName>) -> [InstanceNames] {
        defer { (holdings, state) = (Holdings(), .done) }
        for name in holdings.hosts where !current.contains(name) { hosts[name] = .records([]) }
        return services
    }

    // MARK: Requests and replies

    mutating func nextQuestion() -> (Errand, ZoneRequest)? {
        guard case .reading(let unread, var asked) = state, let shard = unread.subtracting(asked).min() else {
            return nil
        }
        asked.insert(shard)
        state = .reading(unread, asked: asked)
        return (.shard(shard), .ask(records.layout.manifest(shard, of: records.id), .ptr))
    }

    mutating func nextRemoval() -> (Errand, ZoneRequest)? {
        for (name, end) in hosts {
            switch end {
            case .records(let addresses):
                hosts[name] = .removing(addresses)
                return (.host(name), records.remove(host: name))
            case .entry(let addresses):
                hosts[name] = .forgetting(addresses)
                return (.host(name), records.forget(host: name, ownerless: addresses))
            case .removing, .forgetting: continue
            }
        }
        return nil
    }

    mutating func received(_ reply: ZoneReply, to errand: Errand, _ now: Duration) -> [Notice] {
        switch errand {
        case .shard(let shard): return manifestRead(shard, reply, now)
        case .host(let name):
            switch hosts[name] {
            case .removing(let addresses): return removed(name, addresses, reply)
            case .forgetting(let addresses): return forgotten(name, addresses, reply)
            case .records, .entry, nil: return []
            }
        }
    }

    private mutating func manifestRead(_ shard: Int, _ reply: ZoneReply, _ now: Duration) -> [Notice] {
        guard case .reading(var unread, var asked) = state else { return [] }
        asked.remove(shard)
        if case .records(let answer) = reply {
            unread.remove(shard)
            for name in answer.targets { holdings.add(name, in: records.layout) }
        }
        state = unread.isEmpty ? .keeping(until: now + Self.grace) : .reading(unread, asked: asked)
        return [.read]
    }

    private mutating func removed(_ name: DomainName, _ addresses: Set<IPAddress>, _ reply: ZoneReply) -> [Notice] {
        switch reply {
        case .outcome(.done): hosts[name] = nil
        // The name is not this publisher's, or an earlier answer was lost. Or the key may no longer write this host: its records stay, and
        // everything else must go on.
        case .outcome(.notAsRequired): hosts[name] = .entry(addresses)
        case .outcome(.refused): hosts[name] = .entry([])
        case .outcome(.serverFailed):
            hosts[name] = .records(addresses)
            return [.pause(.waiting(records.serverFailure))]
        default: hosts[name] = .records(addresses)
        }
        return []
    }

    private mutating func forgotten(_ name: DomainName, _ addresses: Set<IPAddress>, _ reply: ZoneReply) -> [Notice] {
        hosts[name] = .entry(addresses)
        switch reply {
        // It has an owner, or the key may not write its addresses.
        case .outcome(.recordsExist) where !addresses.isEmpty, .outcome(.refused) where !addresses.isEmpty:
            hosts[name] = .entry([])
            return []
        case .outcome(.refused(let error)): return [.pause(.refused(error))]
        case .outcome(.serverFailed): return [.pause(.waiting(records.serverFailure))]
        case .outcome(.unheard): return []
        default:
            hosts[name] = nil
            return []
        }
    }
}
