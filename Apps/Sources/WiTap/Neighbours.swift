package import DNSSD
import Discovery

/// Remembers which players were seen at which addresses: the protocol has no names, and an inviter is already off the air.
package struct Neighbours: Sendable {
    /// The maximum number of players; the one seen first is forgotten.
    private static let capacity = 256

    private struct Player {
        let instance: ServiceInstance
        var host: HostName?
        var addresses: Set<IPAddress> = []
    }

    private var players: [Player] = []

    package init() {}

    /// Takes a browser's event. A player that is gone is still remembered at its addresses; one that never had an address is forgotten.
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
            // It is leaving: it will call from the addresses that it had until now.
            player.addresses = known.addresses
        }
        players.removeAll { $0.instance == service.instance }
        players.append(player)
        if players.count > Self.capacity { players.removeFirst() }
    }

    /// The player at an address: the only one there, or the common host of several; nil if none was seen.
    package func name(at address: IPAddress) -> String? {
        let candidates = players.filter { $0.addresses.contains { $0.isSame(as: address.unmapped) } }
        if candidates.count == 1 { return candidates[0].instance.name.text }
        let hosts = Set(candidates.compactMap(\.host))
        return hosts.count == 1 ? hosts.first.map { String($0.text.prefix { $0 != "." }) } : nil
    }

    /// The only player that may be at an address, because none of its addresses of that family is known; nil if there are several.
    /// - Parameter own: our own name.
    package func onlyOne(perhapsAt address: IPAddress, unless own: ServiceName) -> String? {
        let candidates = players.filter { player in
            player.instance.name != own && !player.addresses.contains { $0.kind == address.unmapped.kind }
        }
        return candidates.count == 1 ? candidates[0].instance.name.text : nil
    }
}

extension IPAddress {
    fileprivate enum Kind { case ipv4, ipv6, linkLocal }

    fileprivate var kind: Kind {
        guard case .v6(let address, _) = self else { return .ipv4 }
        return address.isLinkLocal ? .linkLocal : .ipv6
    }

    /// An IPv4 address mapped to IPv6, as IPv4.
    fileprivate var unmapped: IPAddress {
        guard case .v6(let address, _) = self, address.isIPv4Mapped else { return self }
        return address.embeddedIPv4.map { .v4($0) } ?? self
    }

    /// An unknown scope matches any.
    fileprivate func isSame(as other: IPAddress) -> Bool {
        guard case .v6(let one, let scope) = self, case .v6(let two, let otherScope) = other else {
            return self == other
        }
        return one == two && (scope == otherScope || scope == 0 || otherScope == 0)
    }
}
