#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoverySystem

/// Addresses that are published for another host, and that discoverd on other hosts does not dial, or not everywhere: they may be meant, as
/// programs without an address policy dial them.
enum AddressDoubts {
    /// A line for each, safe for a terminal; none without a link.
    static func of(_ service: OfferedService) -> [String] {
        let local = LocalAddresses.system()
        return of(service, on: SystemInterfaces.usable(by: service.interfaces).map(\.interface), local)
    }

    static func of(_ service: OfferedService, on links: [NetworkInterface], _ local: LocalAddresses) -> [String] {
        guard let host = service.host else { return [] }
        let links = links.filter { !local.loopbacks.contains($0) }
        return host.addresses.compactMap { address in
            let doubts = links.map { doubt(about: address, on: $0, local) }
            guard let first = doubts.first, let doubt = first, doubts.allSatisfy({ $0 != nil }) else { return nil }
            return "discoverd on other hosts \(doubt)"
        }
    }

    /// What can be said here of all readers: their routes are not known, but who is on the link has its networks.
    private static func doubt(
        about address: IPAddress, on link: NetworkInterface, _ local: LocalAddresses
    ) -> String? {
        guard let port = Port(rawValue: 9) else { return nil }
        var scoped = address
        if case .v6(let v6, _) = address, address.isLinkLocal { scoped = .v6(v6, scope: link.index) }
        let endpoint = Endpoint(address: scoped, port: port, interface: link)
        let refusal = AddressPolicy().refusal(of: endpoint, isOwn: false, local: local, routes: NoRoutes())
        guard let refusal else { return nil }
        guard refusal.canBeAllowed else { return "never dials \(address): \(refusal)" }
        if address.isNAT64 { return "does not dial \(address) by default: \(refusal)" }
        if local.isOnLink(scoped, link) { return nil }
        let place = "the link on which it sees the service"
        return address.isPrivate
            ? "dials \(address) only where a route to it leaves by \(place)"
            : "dials \(address) only where it is in a network of \(place)"
    }

    private struct NoRoutes: RouteLookup {
        func route(to address: IPAddress) -> Route? { nil }
    }
}
#endif
