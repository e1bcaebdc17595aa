package import DNSSD
import Libc

/// An address of an interface, or the interface itself (getifaddrs(3)).
package struct InterfaceAddress: Sendable {
    package let interface: NetworkInterface
    /// IFF_UP and its like (netdevice(7)).
    package let flags: Int32
    /// Scoped to the interface if it is link-local; nil if it is not an Internet address.
    package let address: IPAddress?
    package let netmask: IPAddress?

    package func has(_ flags: some BinaryInteger) -> Bool { self.flags & Int32(truncatingIfNeeded: flags) != 0 }

    /// All addresses of this machine, in the system's order; nil if the system does not list them.
    package static func all() -> [InterfaceAddress]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var found: [InterfaceAddress] = []
        var indexes: [String: UInt32] = [:]
        var next = unsafe list
        while let item = unsafe next?.pointee {
            unsafe next = item.ifa_next
            let name = unsafe String(cString: item.ifa_name)
            let index = unsafe indexes[name] ?? if_nametoindex(name)
            indexes[name] = index
            // The interface has gone meanwhile.
            guard index > 0 else { continue }
            unsafe found.append(
                InterfaceAddress(
                    interface: NetworkInterface(index: index, name: name), flags: Int32(bitPattern: item.ifa_flags),
                    address: address(item.ifa_addr, index), netmask: address(item.ifa_netmask, index)))
        }
        return found
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?, _ index: UInt32) -> IPAddress? {
        switch unsafe SocketAddress(copying: pointer)?.address {
        case .v6(let address, _): .v6(address, scope: address.isLinkLocal ? index : 0)
        case let other: other
        }
    }
}
