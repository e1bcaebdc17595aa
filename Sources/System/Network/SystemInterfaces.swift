package import DNSSD
import Glibc

/// The interfaces of this machine that mDNS can use: up, with an address, and multicast or loopback.
package enum SystemInterfaces {
    package static func usable(by filter: InterfaceFilter) -> [(
        interface: NetworkInterface, families: [IPAddress.Family]
    )] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var families: [NetworkInterface: Set<IPAddress.Family>] = [:]
        var next = unsafe list
        while let item = unsafe next {
            unsafe next = item.pointee.ifa_next
            let flags = unsafe Int32(bitPattern: item.pointee.ifa_flags)
            guard flags & Int32(IFF_UP) != 0,
                flags & Int32(IFF_MULTICAST | IFF_LOOPBACK) != 0,
                let address = unsafe item.pointee.ifa_addr, let family = unsafe family(of: address.pointee.sa_family)
            else { continue }
            let name = unsafe String(cString: item.pointee.ifa_name)
            let index = unsafe if_nametoindex(item.pointee.ifa_name)
            guard index > 0, filter.allows(name) else { continue }
            families[NetworkInterface(index: index, name: name), default: []].insert(family)
        }
        return families.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.rawValue < $1.rawValue }) }
    }

    /// Whether packets of a family can come in on an interface: up, with a carrier and an address.
    package static func isReceiving(_ interface: NetworkInterface, over family: IPAddress.Family) -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        // Without an answer it counts as usable.
        guard unsafe getifaddrs(&list) == 0 else { return true }
        defer { unsafe freeifaddrs(list) }
        var next = unsafe list
        while let item = unsafe next {
            unsafe next = item.pointee.ifa_next
            let flags = unsafe Int32(bitPattern: item.pointee.ifa_flags)
            guard flags & Int32(IFF_UP) != 0, flags & Int32(IFF_RUNNING) != 0,
                let address = unsafe item.pointee.ifa_addr,
                unsafe Self.family(of: address.pointee.sa_family) == family,
                unsafe if_nametoindex(item.pointee.ifa_name) == interface.index
            else { continue }
            return true
        }
        return false
    }

    /// The names of all, whatever their state.
    package static func names() -> [String] { Array(namesByIndex().values) }

    /// The same by their indexes.
    package static func namesByIndex() -> [Int32: String] {
        guard let list = unsafe if_nameindex() else { return [:] }
        defer { unsafe if_freenameindex(list) }
        var names: [Int32: String] = [:]
        var next = unsafe list
        while let name = unsafe next.pointee.if_name {
            unsafe names[Int32(bitPattern: next.pointee.if_index)] = String(cString: name)
            unsafe next += 1
        }
        return names
    }

    private static func family(of value: sa_family_t) -> IPAddress.Family? {
        switch Int32(value) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }
}
