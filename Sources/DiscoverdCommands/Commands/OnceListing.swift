#if Commands
internal import DNSSD
internal import Discovery

/// Services that are each shown once: when fully known, or else in whatever state they are at the end.
struct OnceListing {
    /// A service is resolved before it is shown.
    let resolves: Bool
    /// How many links are asked. A service that was not seen on all of them may be in a moment.
    private let links: Int
    /// Nothing is shown before the end, when all of it is in this order.
    private let order: ListOrder?
    private var shown: Set<ServiceInstance> = []
    private var incomplete: [ServiceInstance: (number: Int, service: DiscoveredService)] = [:]
    private var lastNumber = 0

    init(resolves: Bool, links: Int, order: ListOrder? = nil) {
        self.resolves = resolves
        self.links = links
        self.order = order
    }

    /// - Returns: whether to show it now.
    mutating func became(_ service: DiscoveredService) -> Bool {
        guard !shown.contains(service.instance) else { return false }
        // What a DNS server says is on no link.
        let isAwaited = service.instance.domain == .local && service.interfaces.count < links
        guard order != nil || resolves && service.state != .resolved || isAwaited else {
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

    /// Takes the services that were not shown yet, in the order asked for, or else in the order found.
    mutating func take() -> [DiscoveredService] {
        defer { incomplete = [:] }
        shown.formUnion(incomplete.keys)
        let found = incomplete.values.sorted { $0.number < $1.number }.map(\.service)
        guard let order else { return found }
        return found.map { (ListKey($0, by: order), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
#endif
