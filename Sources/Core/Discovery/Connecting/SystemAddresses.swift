package import DNSSD
import DiscoveryPOSIX
import Libc

extension LocalAddresses {
    /// Reads the current addresses with getifaddrs(3), and on-link IPv6 networks from /proc/net/ipv6_route.
    ///
    /// Empty if getifaddrs fails; then only addresses that a route shows to be near are dialled.
    public static func system() -> LocalAddresses {
        guard let all = InterfaceAddress.all() else { return LocalAddresses(entries: []) }
        var loopbacks: Set<NetworkInterface> = []
        var interfaces: [String: NetworkInterface] = [:]
        var entries: [Entry] = []
        for item in all {
            interfaces[item.interface.name] = item.interface
            if item.has(IFF_LOOPBACK) { loopbacks.insert(item.interface) }
            guard let address = item.address else { continue }
            entries.append(
                Entry(
                    interface: item.interface, address: address,
                    prefixLength: item.netmask?.leadingOneBits ?? address.bitWidth))
        }
        return LocalAddresses(entries: entries, links: ipv6Links(interfaces), loopbacks: loopbacks)
    }

    /// Reads the routes without a gateway. A line is `PREFIX LENGTH SOURCE LENGTH NEXTHOP METRIC REFCOUNT USE FLAGS
    /// DEVICE`, all hexadecimal except the device (linux/net/ipv6/route.c, rt6_info_route).
    private static func ipv6Links(_ interfaces: [String: NetworkInterface]) -> [Link] {
        // A host has few routes, but a router may have a whole table.
        // Linux alone has the file.
        let lines = SystemFile.text(of: "/proc/net/ipv6_route", atMost: 1 << 20)?.split(separator: "\n") ?? []
        return Array(lines.lazy.compactMap { ipv6Link(String($0), interfaces) }.prefix(1024))
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
    /// The prefix length of a network mask.
    package var leadingOneBits: Int {
        switch self {
        case .v4(let mask): (~mask.bits).leadingZeroBitCount
        case .v6(let mask, _):
            ~mask.high == 0 ? 64 + (~mask.low).leadingZeroBitCount : (~mask.high).leadingZeroBitCount
        }
    }
}
