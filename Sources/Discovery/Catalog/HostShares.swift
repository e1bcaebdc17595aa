import DNSSD

/// How many services each host has, so that one host cannot fill a catalog.
struct HostShares: Sendable {
    private var hosts: [ServiceInstance: HostName] = [:]
    private var counts: [HostName: Int] = [:]

    /// Counts a service for a host, and no longer for the one it had before.
    /// - Returns: false, and nothing is counted, when the host already has `limit` others.
    mutating func add(_ instance: ServiceInstance, to host: HostName, limit: Int?) -> Bool {
        guard hosts[instance] != host else { return true }
        if let limit, counts[host, default: 0] >= limit { return false }
        remove(instance)
        hosts[instance] = host
        counts[host, default: 0] += 1
        return true
    }

    mutating func remove(_ instance: ServiceInstance) {
        guard let host = hosts.removeValue(forKey: instance), let count = counts[host] else { return }
        counts[host] = count > 1 ? count - 1 : nil
    }
}
