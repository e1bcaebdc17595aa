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
        return switch order {
        case nil: found
        case .name: found.sorted { Self.key($0) < Self.key($1) }
        case .type:
            found.sorted { ($0.instance.type.description, Self.key($0)) < ($1.instance.type.description, Self.key($1)) }
        case .host:
            found.sorted { ($0.host?.description ?? "", Self.key($0)) < ($1.host?.description ?? "", Self.key($1)) }
        }
    }

    /// People look for a name whatever its case.
    private static func key(_ service: DiscoveredService) -> String {
        "\(service.instance.name.value.lowercased())\u{0}\(service.instance.fullName)"
    }
}
#endif
