import DNSSD

/// Which services each host has, so that one host cannot keep those of others out of a full catalog.
struct HostShares: Sendable {
    /// Services that every host may have.
    private let share: Int
    private var hosts: [ServiceInstance: HostName] = [:]
    private var services: [HostName: Set<ServiceInstance>] = [:]
    /// Hosts with more than their share.
    private var large: Set<HostName> = []

    init(share: Int) { self.share = share }

    /// Whether a host has no more than its share when it gets this service, which may be its own already.
    func isWithinShare(_ host: HostName, with instance: ServiceInstance) -> Bool {
        hosts[instance] == host || services[host]?.count ?? 0 < share
    }

    /// One service of a host that has more than its share; nil: none has.
    var spare: ServiceInstance? { large.first.flatMap { services[$0]?.first } }

    /// Counts a service for a host, and no longer for the one it had before.
    mutating func add(_ instance: ServiceInstance, to host: HostName) {
        guard hosts[instance] != host else { return }
        remove(instance)
        hosts[instance] = host
        services[host, default: []].insert(instance)
        if services[host]?.count ?? 0 > share { large.insert(host) }
    }

    mutating func remove(_ instance: ServiceInstance) {
        guard let host = hosts.removeValue(forKey: instance) else { return }
        services[host]?.remove(instance)
        let count = services[host]?.count ?? 0
        if count <= share { large.remove(host) }
        if count == 0 { services[host] = nil }
    }
}
