#if Commands
internal import DNSSD
internal import Libc
internal import DiscoverySystem

/// A network interface as the system describes it.
struct LocalInterface {
    let name: String
    var flags: UInt32
    var hasIPv4 = false
    var hasIPv6 = false

    var isUp: Bool { flags & UInt32(IFF_UP) != 0 }
    var isLoopback: Bool { flags & UInt32(IFF_LOOPBACK) != 0 }
    var isMulticast: Bool { flags & UInt32(IFF_MULTICAST) != 0 }
    var hasAddress: Bool { hasIPv4 || hasIPv6 }
    /// mDNS works on this interface.
    var isUsable: Bool { isUp && isMulticast && hasAddress && !isLoopback }

    /// All of this machine's interfaces, in the system's order; nil if the system does not report them.
    static func all() -> [LocalInterface]? {
        guard let all = InterfaceAddress.all() else { return nil }
        var interfaces: [LocalInterface] = []
        for item in all {
            let position = interfaces.firstIndex { $0.name == item.interface.name } ?? interfaces.endIndex
            if position == interfaces.endIndex {
                interfaces.append(LocalInterface(name: item.interface.name, flags: UInt32(bitPattern: item.flags)))
            }
            switch item.address?.family {
            case .ipv4: interfaces[position].hasIPv4 = true
            case .ipv6: interfaces[position].hasIPv6 = true
            case nil: break
            }
        }
        return interfaces
    }
}
#endif
