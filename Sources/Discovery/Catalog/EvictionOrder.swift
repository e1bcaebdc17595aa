/// Who gives way in a full list: what was never resolved, and then the newest of the host that has most beyond its share. So neither names
/// that nobody answers for nor one host keep those of others out.
package struct EvictionOrder<Service: Hashable & Sendable, Host: Hashable & Sendable>: Sendable {
    /// Services that every host may have.
    private let share: Int
    private var hosts: [Service: Host] = [:]
    private var services: [Host: NewestFirst<Service>] = [:]
    /// Hosts with more than their share.
    private var large: Set<Host> = []
    private var unresolved = NewestFirst<Service>()

    package init(share: Int) { self.share = share }

    /// Whether a host has no more than its share when it gets this service, which may be its own already.
    package func isWithinShare(_ host: Host, with service: Service) -> Bool {
        hosts[service] == host || services[host]?.count ?? 0 < share
    }

    /// Counts a service for a host, and no longer for the one it had before; nil: it was never resolved.
    package mutating func add(_ service: Service, to host: Host?) {
        guard let host else { return unresolved.insert(service) }
        guard hosts[service] != host else { return }
        remove(service)
        hosts[service] = host
        services[host, default: NewestFirst()].insert(service)
        if services[host]?.count ?? 0 > share { large.insert(host) }
    }

    package mutating func remove(_ service: Service) {
        unresolved.remove(service)
        guard let host = hosts.removeValue(forKey: service) else { return }
        services[host]?.remove(service)
        let count = services[host]?.count ?? 0
        if count <= share { large.remove(host) }
        if count == 0 { services[host] = nil }
    }

    /// Takes out the newest that was never resolved; nil: there is none.
    package mutating func takeUnresolved() -> Service? {
        let service = unresolved.newest
        if let service { remove(service) }
        return service
    }

    /// Takes out the newest of the largest host; nil: none has more than its share.
    package mutating func takeSpare() -> Service? {
        let largest = large.max { services[$0]?.count ?? 0 < services[$1]?.count ?? 0 }
        guard let largest, let service = services[largest]?.newest else { return nil }
        remove(service)
        return service
    }
}

/// A set that knows which of its members came last.
private struct NewestFirst<Member: Hashable & Sendable>: Sendable {
    private var members: Set<Member> = []
    /// As they came; those that left are still in it.
    private var order: [Member] = []

    var count: Int { members.count }

    var newest: Member? {
        mutating get {
            while let last = order.last, !members.contains(last) { order.removeLast() }
            return order.last
        }
    }

    mutating func insert(_ member: Member) {
        if members.insert(member).inserted { order.append(member) }
    }

    mutating func remove(_ member: Member) {
        guard members.remove(member) != nil, order.count > 2 * members.count + 16 else { return }
        var seen: Set<Member> = []
        order = order.reversed().filter { members.contains($0) && seen.insert($0).inserted }.reversed()
    }
}
