package import DNSSD
import System

/// A link as some operations ask and hear it: over which families. What is heard over IPv6 says nothing to who asks over IPv4 alone, as
/// packets of that family may not get anywhere.
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

/// What an operation asks of links.
struct LinkWish: Hashable {
    let interfaces: InterfaceFilter
    let families: Set<IPAddress.Family>

    func wants(_ link: LinkKey) -> Bool { interfaces.allows(link.interface.name) && families == link.families }
}

/// Which links are opened: those that are asked for, and the loopback interface where there is no other.
struct LinkSelection {
    /// With the families that the system has there.
    let links: [LinkKey: [IPAddress.Family]]

    /// - Parameter usable: what the system has.
    init(
        _ usable: [(interface: NetworkInterface, families: [IPAddress.Family])], _ wishes: some Sequence<LinkWish>
    ) {
        var links: [LinkKey: [IPAddress.Family]] = [:]
        for wish in wishes {
            let allowed = usable.filter { wish.interfaces.allows($0.interface.name) }
            let real = allowed.filter { !$0.interface.isLoopback }
            for (interface, families) in real.isEmpty ? allowed : real {
                // Multicast over IPv6 has no route there.
                let families = interface.isLoopback ? families.filter { $0 == .ipv4 } : families
                let wanted = families.filter { wish.families.contains($0) }
                if !wanted.isEmpty { links[LinkKey(interface: interface, families: wish.families)] = wanted }
            }
        }
        self.links = links
    }
}

/// Whether port 5353 can be shared shows when sockets are bound to it.
package enum SharedPort {
    /// Whether a program has it for itself: over one family at least, wherever one tried.
    package static func isTaken(_ tried: [(family: IPAddress.Family, isTaken: Bool)]) -> Bool {
        Dictionary(grouping: tried, by: \.family).values.contains { $0.allSatisfy(\.isTaken) }
    }
}
