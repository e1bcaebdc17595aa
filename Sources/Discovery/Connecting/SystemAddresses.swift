package import DNSSD

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

extension LocalAddresses {
    /// What the system says now: addresses by getifaddrs(3), IPv6 networks without a router by /proc/net/ipv6_route.
    ///
    /// Empty when the system does not answer, and then only what a route shows to be near is dialled.
    public static func system() -> LocalAddresses {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return LocalAddresses(entries: []) }
        defer { unsafe freeifaddrs(list) }
        var entries: [Entry] = []
        var loopbacks: Set<NetworkInterface> = []
        var interfaces: [String: NetworkInterface] = [:]
        var next = unsafe list
        while let item = unsafe next {
            unsafe next = item.pointee.ifa_next
            let name = unsafe String(cString: item.pointee.ifa_name)
            let index = unsafe if_nametoindex(item.pointee.ifa_name)
            guard index > 0 else { continue }
            let interface = NetworkInterface(index: index, name: name)
            interfaces[name] = interface
            let flags = unsafe Int32(bitPattern: item.pointee.ifa_flags)
            if flags & Int32(IFF_LOOPBACK) != 0 { loopbacks.insert(interface) }
            guard let socketAddress = unsafe item.pointee.ifa_addr,
                let address = unsafe IPAddress(socketAddress, on: interface)
            else { continue }
            let mask = unsafe item.pointee.ifa_netmask.flatMap { unsafe IPAddress($0, on: interface) }
            entries.append(
                Entry(
                    interface: interface, address: address,
                    prefixLength: mask?.leadingOneBits ?? address.bitWidth))
        }
        return LocalAddresses(entries: entries, links: ipv6Links(interfaces), loopbacks: loopbacks)
    }

    /// Routes that have no gateway; lines are `PREFIX LENGTH SOURCE LENGTH NEXTHOP METRIC REFCOUNT USE FLAGS DEVICE`, all
    /// hexadecimal but the last (linux/net/ipv6/route.c, rt6_info_route).
    private static func ipv6Links(_ interfaces: [String: NetworkInterface]) -> [Link] {
        guard let file = unsafe fopen("/proc/net/ipv6_route", "re") else { return [] }
        defer { unsafe fclose(file) }
        var links: [Link] = []
        var line = [CChar](repeating: 0, count: 512)
        // Bounded, though a host has few routes: a router may have a whole table.
        while links.count < 1024, unsafe fgets(&line, Int32(line.count), file) != nil {
            let end = line.firstIndex(of: 0) ?? line.endIndex
            let text = String(decoding: line[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let link = ipv6Link(text, interfaces) else { continue }
            links.append(link)
        }
        return links
    }

    package static func ipv6Link(_ line: String, _ interfaces: [String: NetworkInterface]) -> Link? {
        let fields = line.split { $0 == " " || $0 == "\n" }
        let (up, gateway, reject) = (UInt32(0x1), UInt32(0x2), UInt32(0x200))  // RTF_UP, RTF_GATEWAY, RTF_REJECT
        guard fields.count == 10, fields[0].utf8.count == 32, let high = UInt64(fields[0].prefix(16), radix: 16),
            let low = UInt64(fields[0].suffix(16), radix: 16), let length = Int(fields[1], radix: 16), length > 0,
            fields[4].allSatisfy({ $0 == "0" }), let flags = UInt32(fields[8], radix: 16),
            flags & (up | gateway | reject) == up, let interface = interfaces[String(fields[9])],
            let prefix = CIDR(containing: .v6(IPv6Address(high: high, low: low), scope: 0), prefixLength: length)
        else { return nil }
        return Link(interface: interface, prefix: prefix)
    }
}

extension IPAddress {
    /// The address in a socket address; nil for other families.
    fileprivate init?(_ pointer: UnsafeMutablePointer<sockaddr>, on interface: NetworkInterface) {
        let raw = UnsafeRawPointer(pointer)
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let v4 = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self = .v4(IPv4Address(bits: UInt32(bigEndian: v4.sin_addr.s_addr)))
        case AF_INET6:
            let v6 = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: v6.sin6_addr) { unsafe Array($0) }
            guard let address = IPv6Address(bytes: bytes) else { return nil }
            self = .v6(address, scope: address.isLinkLocal ? interface.index : 0)
        default: return nil
        }
    }

    /// The length of a prefix that is written as a mask.
    fileprivate var leadingOneBits: Int {
        switch self {
        case .v4(let mask): (~mask.bits).leadingZeroBitCount
        case .v6(let mask, _):
            ~mask.high == 0 ? 64 + (~mask.low).leadingZeroBitCount : (~mask.high).leadingZeroBitCount
        }
    }
}
