package import DNSSD

/// The services of a stream of events: sorted, each once.
package struct ServiceList: Hashable, Sendable {
    /// The services, ordered by domain, type and name.
    package private(set) var services: [DiscoveredService] = []
    private var isTold = false

    package init() {}

    /// Applies events.
    /// - Returns: whether there is a list to tell: it changed, or it is the first, and known to be complete.
    package mutating func apply(_ events: [ServiceEvent]) -> Bool {
        var hasNews = false
        for event in events {
            switch event {
            case .found(let service), .changed(let service): hasNews = put(service) || hasNews
            case .lost(let service): hasNews = remove(service.instance) || hasNews
            case .settled: hasNews = hasNews || !isTold
            case .backend, .degraded: continue
            }
        }
        isTold = isTold || hasNews
        return hasNews
    }

    private mutating func put(_ service: DiscoveredService) -> Bool {
        let index = index(of: service.instance)
        guard index < services.count, services[index].instance == service.instance else {
            services.insert(service, at: index)
            return true
        }
        guard services[index] != service else { return false }
        services[index] = service
        return true
    }

    private mutating func remove(_ instance: ServiceInstance) -> Bool {
        let index = index(of: instance)
        guard index < services.count, services[index].instance == instance else { return false }
        services.remove(at: index)
        return true
    }

    /// Where a service is, or belongs.
    private func index(of instance: ServiceInstance) -> Int {
        var (low, high) = (0, services.count)
        while low < high {
            let middle = low + (high - low) / 2
            if services[middle].instance < instance { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
