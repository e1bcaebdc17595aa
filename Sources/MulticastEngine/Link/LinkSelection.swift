import DNSSD
import System

/// Which links are opened: those that are asked for, and the loopback interface where there is no other.
struct LinkSelection {
    let links: [NetworkInterface: [IPAddress.Family]]

    /// - Parameters:
    ///   - usable: what the system has.
    ///   - wishes: what each operation asks for.
    init(
        _ usable: [(interface: NetworkInterface, families: [IPAddress.Family])],
        _ wishes: [(interfaces: InterfaceFilter, families: Set<IPAddress.Family>)]
    ) {
        var links: [NetworkInterface: [IPAddress.Family]] = [:]
        for wish in wishes {
            let allowed = usable.filter { wish.interfaces.allows($0.interface.name) }
            let real = allowed.filter { !$0.interface.isLoopback }
            for (interface, families) in real.isEmpty ? allowed : real {
                // Multicast over IPv6 has no route there.
                let families = interface.isLoopback ? families.filter { $0 == .ipv4 } : families
                let wanted = families.filter { wish.families.contains($0) }
                let known = links[interface] ?? []
                if !wanted.isEmpty { links[interface] = families.filter { known.contains($0) || wanted.contains($0) } }
            }
        }
        self.links = links
    }
}
