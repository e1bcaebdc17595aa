package import DNSSD
import Discovery

/// Which players were seen at which addresses: the wire says no name, and whoever invites is off the air by then.
package struct Neighbours: Sendable {
    /// More are not remembered; the one that was seen first goes.
    private static let capacity = 256

    private var services: [DiscoveredService] = []

    package init() {}

    /// Takes in what a browser told; what is gone stays known.
    package mutating func update(_ event: ServiceEvent) {
        guard case .found(let service) = event.found, !service.endpoints.isEmpty else { return }
        services.removeAll { $0.instance == service.instance }
        services.append(service)
        if services.count > Self.capacity { services.removeFirst() }
    }

    /// Who is at an address: the only player there, or the host of several; nil when none was seen.
    package func name(at address: String) -> String? {
        guard let address = IPAddress(address).map(\.unmapped) else { return nil }
        let candidates = services.filter { $0.endpoints.contains { $0.address.unmapped == address } }
        if candidates.count == 1 { return candidates[0].instance.name.value }
        let hosts = Set(candidates.compactMap(\.host))
        return hosts.count == 1 ? hosts.first.map { String($0.name.prefix { $0 != "." }) } : nil
    }
}

extension ServiceEvent {
    /// Both are news of a service that is there.
    fileprivate var found: ServiceEvent {
        if case .changed(let service) = self { .found(service) } else { self }
    }
}

extension IPAddress {
    /// As a connection tells it: without a scope, and an IPv4 address that came over an IPv6 socket is one.
    fileprivate var unmapped: IPAddress {
        guard case .v6(let address, _) = self else { return self }
        return address.isIPv4Mapped ? address.embeddedIPv4.map { .v4($0) } ?? self : .v6(address, scope: 0)
    }
}
