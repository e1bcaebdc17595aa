#if Commands
internal import Glibc

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
    /// mDNS works on it.
    var isUsable: Bool { isUp && isMulticast && hasAddress && !isLoopback }

    /// All of this machine's, in the system's order; nil when the system does not tell.
    static func all() -> [LocalInterface]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var interfaces: [LocalInterface] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            let name = unsafe String(cString: entry.ifa_name)
            let position = interfaces.firstIndex { $0.name == name } ?? interfaces.endIndex
            if position == interfaces.endIndex {
                interfaces.append(LocalInterface(name: name, flags: unsafe entry.ifa_flags))
            }
            switch unsafe entry.ifa_addr.map({ unsafe Int32($0.pointee.sa_family) }) {
            case AF_INET: interfaces[position].hasIPv4 = true
            case AF_INET6: interfaces[position].hasIPv6 = true
            default: break
            }
        }
        return interfaces
    }
}
#endif
