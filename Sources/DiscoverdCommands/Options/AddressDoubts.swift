#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoverySystem

/// Addresses that are published for another host, and that discoverd would dial on none of the links: they may be meant, as programs without an
/// address policy dial them.
enum AddressDoubts {
    /// A line for each, safe for a terminal; none without a link.
    static func of(_ service: OfferedService) -> [String] {
        guard let host = service.host, !host.addresses.isEmpty else { return [] }
        let local = LocalAddresses.system()
        let links = SystemInterfaces.usable(by: service.interfaces).map(\.interface).filter {
            !local.loopbacks.contains($0)
        }
        return host.addresses.compactMap { address in
            let reasons = links.map { reason(against: address, on: $0, local) }
            guard let first = reasons.first, let reason = first, reasons.allSatisfy({ $0 != nil }) else { return nil }
            return "discoverd on other hosts does not dial \(address) by default: \(reason)"
        }
    }

    private static func reason(
        against address: IPAddress, on link: NetworkInterface, _ local: LocalAddresses
    ) -> String? {
        guard let port = Port(rawValue: 9) else { return nil }
        var scoped = address
        if case .v6(let v6, _) = address, address.isLinkLocal { scoped = .v6(v6, scope: link.index) }
        let endpoint = Endpoint(address: scoped, port: port, interface: link)
        return AddressPolicy().refusal(of: endpoint, isOwn: true, local: local, routes: SystemRoutes())?.description
    }
}
#endif
