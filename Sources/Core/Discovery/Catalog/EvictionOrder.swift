/// The order in which services of a full list give way: first those never resolved, then the latest of the host that
/// most exceeds its share. So neither unanswered names nor a single host can displace others.
package struct EvictionOrder<Service: Hashable & Sendable, Host: Hashable & Sendable>: Sendable {
    /// The number of services guaranteed to every host.
    private let share: Int
    private var hosts: [Service: Host] = [:]
    private var services: [Host: ArrivalOrder<Service>] = [:]
    /// Hosts with more than their share.
    private var large: Set<Host> = []
    private var unresolved = ArrivalOrder<Service>()

    package init(share: Int) { self.share = share }

    /// Whether a host stays within its share with this service, which may already be its own.
    package func isWithinShare(_ host: Host, with service: Service) -> Bool {
        hosts[service] == host || services[host]?.count ?? 0 < share
    }

    /// Counts a service for a host instead of the one it had before; nil if it was never resolved.
    package mutating func add(_ service: Service, to host: Host?) {
        guard let host else { return unresolved.insert(service) }
        guard hosts[service] != host else { return }
        remove(service)
        hosts[service] = host
        services[host, default: ArrivalOrder()].insert(service)
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

    /// Removes the latest service that was never resolved; nil if there is none.
    package mutating func takeUnresolved() -> Service? {
        let service = unresolved.newest
        if let service { remove(service) }
        return service
    }

    /// Removes the latest service of the largest host; nil if none exceeds its share.
    package mutating func takeSpare() -> Service? {
        let largest = large.max { services[$0]?.count ?? 0 < services[$1]?.count ?? 0 }
        guard let largest, let service = services[largest]?.newest else { return nil }
        remove(service)
        return service
    }
}
