internal import DNSSD

/// The services that are there, in the order in which they were found.
struct OrderedServices {
    private var services: [ServiceInstance: (number: Int, service: DiscoveredService)] = [:]
    private var lastNumber = 0

    mutating func became(_ service: DiscoveredService) {
        lastNumber += 1
        services[service.instance] = (services[service.instance]?.number ?? lastNumber, service)
    }

    mutating func ended(_ service: DiscoveredService) { services[service.instance] = nil }

    /// All, of which none is kept.
    mutating func take() -> [DiscoveredService] {
        defer { services = [:] }
        return services.values.sorted { $0.number < $1.number }.map(\.service)
    }
}
