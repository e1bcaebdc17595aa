package import DNSSD
import Discovery

/// Which players were seen at which addresses: the wire says no name, and whoever invites is off the air by then.
package struct Neighbours: Sendable {
    /// More are not remembered; the one that was seen first goes.
    private static let capacity = 256

    private struct Player {
        let instance: ServiceInstance
        var host: HostName?
        var addresses: Set<IPAddress> = []
    }

    private var players: [Player] = []

    package init() {}

    /// Takes in what a browser told. What is gone stays known where it was; who was never anywhere is forgotten.
    package mutating func update(_ event: ServiceEvent) {
        switch event {
        case .found(let service), .changed(let service): seen(service)
        case .lost(let service): players.removeAll { $0.instance == service.instance && $0.addresses.isEmpty }
        case .settled, .backend, .degraded: break
        }
    }

    private mutating func seen(_ service: DiscoveredService) {
        let known = players.first { $0.instance == service.instance }
        var player = Player(
            instance: service.instance, host: service.host, addresses: Set(service.endpoints.map(\.address.unmapped)))
        if let known, player.addresses.isEmpty {
            player = known
        } else if let known, known.addresses.isSuperset(of: player.addresses) {
            // It is going: what it had until now is where it calls from.
            player.addresses = known.addresses
        }
        players.removeAll { $0.instance == service.instance }
        players.append(player)
        if players.count > Self.capacity { players.removeFirst() }
    }

    /// Who is at an address: the only player there, or the host of several; nil when none was seen.
    package func name(at address: IPAddress) -> String? {
        let candidates = players.filter { $0.addresses.contains { $0.isSame(as: address.unmapped) } }
        if candidates.count == 1 { return candidates[0].instance.name.value }
        let hosts = Set(candidates.compactMap(\.host))
        return hosts.count == 1 ? hosts.first.map { String($0.name.prefix { $0 != "." }) } : nil
    }

    /// The only player who may be at an address, for no address of that kind is known of it; nil when there are several.
    /// - Parameter own: what we are called ourselves.
    package func onlyOne(perhapsAt address: IPAddress, unless own: ServiceName) -> String? {
        let candidates = players.filter { player in
            player.instance.name != own && !player.addresses.contains { $0.kind == address.unmapped.kind }
        }
        return candidates.count == 1 ? candidates[0].instance.name.value : nil
    }
}

extension IPAddress {
    fileprivate enum Kind { case ipv4, ipv6, linkLocal }

    fileprivate var kind: Kind {
        guard case .v6(let address, _) = self else { return .ipv4 }
        return address.isLinkLocal ? .linkLocal : .ipv6
    }

    /// An IPv4 address that came over an IPv6 socket is one.
    fileprivate var unmapped: IPAddress {
        guard case .v6(let address, _) = self, address.isIPv4Mapped else { return self }
        return address.embeddedIPv4.map { .v4($0) } ?? self
    }

    /// A scope that is not known is any.
    fileprivate func isSame(as other: IPAddress) -> Bool {
        guard case .v6(let one, let scope) = self, case .v6(let two, let otherScope) = other else {
            return self == other
        }
        return one == two && (scope == otherScope || scope == 0 || otherScope == 0)
    }
}
