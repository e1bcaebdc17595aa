package import DNSSD
import DiscoverySystem

/// A link, and the families over which operations use it. Packets over IPv6 do not count for a query over IPv4 alone,
/// because those of one family may not get through.
struct LinkKey: Hashable, Comparable {
    let interface: NetworkInterface
    let families: Set<IPAddress.Family>

    static func < (one: LinkKey, other: LinkKey) -> Bool {
        one.interface == other.interface
            ? one.families.count > other.families.count
                || one.families.count == other.families.count && one.families.contains(.ipv4)
                    && !other.families.contains(.ipv4)
            : one.interface < other.interface
    }
}

/// The links that an operation wants.
struct LinkWish: Hashable {
    let interfaces: InterfaceFilter
    let families: Set<IPAddress.Family>

    func wants(_ link: LinkKey) -> Bool { interfaces.allows(link.interface.name) && families == link.families }
}

/// Selects the links to open: those that are wanted, and loopback only if there is no other.
struct LinkSelection {
    /// The links to open, each with the families available on it.
    let links: [LinkKey: [IPAddress.Family]]

    /// - Parameter usable: the system's interfaces.
    init(
        _ usable: [(interface: NetworkInterface, families: [IPAddress.Family])], _ wishes: some Sequence<LinkWish>
    ) {
        var links: [LinkKey: [IPAddress.Family]] = [:]
        for wish in wishes {
            let allowed = usable.filter { wish.interfaces.allows($0.interface.name) }
            let real = allowed.filter { !$0.interface.isLoopback }
            for (interface, families) in real.isEmpty ? allowed : real {
                // Multicast over IPv6 has no route on loopback.
                let families = interface.isLoopback ? families.filter { $0 == .ipv4 } : families
                let wanted = families.filter { wish.families.contains($0) }
                if !wanted.isEmpty { links[LinkKey(interface: interface, families: wish.families)] = wanted }
            }
        }
        self.links = links
    }
}

/// Judges by attempts to bind sockets whether port 5353 can be shared.
package enum SharedPort {
    /// Returns whether a program holds the port exclusively: over at least one family, on all links tried.
    package static func isTaken(_ tried: [(family: IPAddress.Family, isTaken: Bool)]) -> Bool {
        Dictionary(grouping: tried, by: \.family).values.contains { $0.allSatisfy(\.isTaken) }
    }
}
