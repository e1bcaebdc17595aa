package import DNSSD
import Discovery
import DiscoverySystem

/// A link over some families. Packets over IPv6 do not count for a query over IPv4 alone, because those of one family may not get
/// through.
struct LinkKey: Hashable {
    let interface: NetworkInterface
    var families = IPAddress.Family.both
}

/// The links that an operation wants.
struct LinkWish: Hashable {
    let interfaces: InterfaceFilter
    let families: Set<IPAddress.Family>

    /// Whether an interface is meant. A link to one peer is where a pattern allows it, and not by being there, if `toPeers` names it.
    func means(_ interface: NetworkInterface, toPeers: Set<NetworkInterface>) -> Bool {
        interfaces.allows(interface.name) && !(interfaces.patterns.isEmpty && toPeers.contains(interface))
    }

    /// The family, if it wants one alone.
    var family: IPAddress.Family? { families.count == 1 ? families.first : nil }
}

/// Selects the links to open, and who uses them: those that are wanted, and loopback only for whom there is no other.
struct LinkSelection {
    /// A link to open.
    struct Wanted: Equatable {
        /// Those that are available and wanted.
        var families: [IPAddress.Family]
        /// Whether someone wants one of them alone.
        var isApart: Bool
    }

    let links: [NetworkInterface: Wanted]
    /// The interfaces that each wish has.
    private let choices: [LinkWish: Set<NetworkInterface>]

    /// - Parameters:
    ///   - usable: the system's interfaces.
    ///   - toPeers: links that must be named.
    init(
        _ usable: [(interface: NetworkInterface, families: [IPAddress.Family])], _ wishes: some Sequence<LinkWish>,
        toPeers: Set<NetworkInterface> = []
    ) {
        var links: [NetworkInterface: Wanted] = [:]
        var choices: [LinkWish: Set<NetworkInterface>] = [:]
        for wish in wishes {
            let allowed = usable.filter { wish.means($0.interface, toPeers: toPeers) }
            let real = allowed.filter { !$0.interface.isLoopback }
            for (interface, families) in real.isEmpty ? allowed : real {
                // Multicast over IPv6 has no route on loopback.
                let families = interface.isLoopback ? families.filter { $0 == .ipv4 } : families
                let wanted = families.filter { wish.families.contains($0) }
                guard !wanted.isEmpty else { continue }
                var link = links[interface] ?? Wanted(families: [], isApart: false)
                link.families += wanted.filter { !link.families.contains($0) }
                link.isApart = link.isApart || wish.family != nil
                links[interface] = link
                choices[wish, default: []].insert(interface)
            }
        }
        (self.links, self.choices) = (links, choices)
    }

    /// Whether somebody with one of the wishes uses a link over one of these families. Others may have had it opened.
    func wants(_ wish: LinkWish, _ link: LinkKey) -> Bool {
        choices[wish]?.contains(link.interface) == true && !wish.families.isDisjoint(with: link.families)
    }
}

/// Judges by attempts to bind sockets whether port 5353 can be shared.
package enum SharedPort {
    /// Returns whether a program holds the port exclusively: over at least one family, on all links tried.
    package static func isTaken(_ tried: [(family: IPAddress.Family, isTaken: Bool)]) -> Bool {
        Dictionary(grouping: tried, by: \.family).values.contains { $0.allSatisfy(\.isTaken) }
    }
}
