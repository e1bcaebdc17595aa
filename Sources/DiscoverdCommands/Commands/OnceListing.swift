#if Commands
internal import DNSSD
internal import Discovery

/// Services that are each shown once: when fully known, or else in whatever state they are at the end.
struct OnceListing {
    /// A service is resolved before it is shown.
    let resolves: Bool
    /// How many links are asked. A service that was not seen on all of them may be in a moment.
    private let links: Int
    private var shown: Set<ServiceInstance> = []
    private var incomplete: [ServiceInstance: (number: Int, service: DiscoveredService)] = [:]
    private var lastNumber = 0

    init(resolves: Bool, links: Int) {
        self.resolves = resolves
        self.links = links
    }

    /// - Returns: whether to show it now.
    mutating func became(_ service: DiscoveredService) -> Bool {
        guard !shown.contains(service.instance) else { return false }
        // What a DNS server says is on no link.
        let isAwaited = service.instance.domain == .local && service.interfaces.count < links
        guard resolves && service.state != .resolved || isAwaited else {
            incomplete[service.instance] = nil
            shown.insert(service.instance)
            return true
        }
        lastNumber += 1
        incomplete[service.instance] = (incomplete[service.instance]?.number ?? lastNumber, service)
        return false
    }

    /// - Returns: whether it was never shown and never will be.
    mutating func ended(_ service: DiscoveredService) -> Bool {
        incomplete.removeValue(forKey: service.instance) != nil
    }

    /// Takes the services that were not shown yet, in the order found.
    mutating func take() -> [DiscoveredService] {
        defer { incomplete = [:] }
        shown.formUnion(incomplete.keys)
        return incomplete.values.sorted { $0.number < $1.number }.map(\.service)
    }
}
#endif
