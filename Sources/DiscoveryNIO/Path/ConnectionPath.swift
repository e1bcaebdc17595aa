public import DNSSD
public import Discovery

/// How a connection's packets leave this machine, as far as the system tells. Whether the other side still answers is not part of it.
public struct ConnectionPath: Hashable, Sendable {
    /// The interface that has the connection's local address; nil if none has it.
    public let interface: NetworkInterface?
    /// The address is there, and its interface is up and has a carrier.
    public let isViable: Bool
    /// A new connection to the same address would leave by another interface, which has a carrier: that of the kernel's route.
    public let isBetterThere: Bool

    /// Judges a path.
    /// - Parameters:
    ///   - local: the connection's own address.
    ///   - remote: the other side's; nil if it is not known.
    ///   - addresses: this machine's.
    ///   - routes: the kernel's.
    ///   - isReceiving: whether an interface is up and has a carrier, for a family.
    public init(
        from local: IPAddress, to remote: IPAddress?, _ addresses: LocalAddresses, _ routes: any RouteLookup,
        isReceiving: (NetworkInterface, IPAddress.Family) -> Bool
    ) {
        let entry = addresses.entries.first { entry in
            guard entry.address.masked(to: 128) == local.masked(to: 128) else { return false }
            return !local.isLinkLocal || local.family == .ipv4 || local.scope == 0
                || local.scope == entry.interface.index
        }
        interface = entry?.interface
        isViable = entry.map { isReceiving($0.interface, local.family) } ?? false
        // A link-local address is reached by its interface alone; one's own has none to speak of.
        guard let remote, !remote.isLinkLocal, !addresses.isOwn(remote),
            case .leaves(let index, _)? = routes.route(to: remote), index != entry?.interface.index,
            let other = addresses.entries.first(where: { $0.interface.index == index })?.interface
        else {
            isBetterThere = false
            return
        }
        isBetterThere = isReceiving(other, remote.family)
    }
}

extension IPAddress {
    /// The number of the interface that a link-local IPv6 address belongs to; else 0.
    fileprivate var scope: UInt32 { if case .v6(_, let scope) = self { scope } else { 0 } }
}
