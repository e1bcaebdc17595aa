public import DNSSD
import DiscoveryPOSIX
import Libc

/// The kernel's routes, looked up one address at a time with rtnetlink(7). Answers are remembered, so a value serves
/// one judgement of many addresses; the next judgement needs a new one.
public final class SystemRoutes: RouteLookup {
    /// The most answers that are remembered; strangers choose how many addresses there are.
    private static let limit = 1024

    private struct State {
        /// Nil before the first lookup; -1 if the socket could not be opened.
        var descriptor: Int32?
        var sequence: UInt32 = 0
        var answers: [IPAddress: Route?] = [:]
    }
    private let state = Locked(State())

    /// Creates a lookup; the socket is opened when it is first needed.
    public init() {}

    deinit {
        if let descriptor = state.withLock({ $0.descriptor }), descriptor >= 0 { close(descriptor) }
    }

    /// Returns the kernel's route at the time of the first lookup of this address; nil if there is none or the kernel
    /// does not answer. May be called from any thread.
    public func route(to address: IPAddress) -> Route? {
        state.withLock { state in
            if let known = state.answers[address] { return known }
            let route = Self.ask(address, &state)
            if state.answers.count < Self.limit { state.answers[address] = .some(route) }
            return route
        }
    }

    private static func ask(_ address: IPAddress, _ state: inout State) -> Route? {
        let descriptor = state.descriptor ?? open()
        state.descriptor = descriptor
        guard descriptor >= 0 else { return nil }
        state.sequence &+= 1
        let question = RouteMessage.question(address, sequence: state.sequence)
        // An unconnected netlink socket sends to the kernel, which answers before send(2) returns: no wait is needed.
        guard unsafe send(descriptor, question, question.count, 0) == question.count else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return nil }
            guard let answer = RouteMessage.answer(buffer[..<count], sequence: state.sequence) else { continue }
            return answer.route
        }
    }
}

#if os(Linux)
extension SystemRoutes {
    /// NETLINK_ROUTE. SOCK_RAW, SOCK_CLOEXEC and SOCK_NONBLOCK in numbers: their types depend on the C library.
    private static func open() -> Int32 { socket(AF_NETLINK, 3 | 0o2_000_000 | 0o4_000, 0) }
}
#else
extension SystemRoutes {
    /// Other systems are not asked.
    private static func open() -> Int32 { -1 }
}
#endif

/// Encodes RTM_GETROUTE and decodes its answer. The numbers are spelled out because Glibc's module has no
/// <linux/rtnetlink.h>.
package enum RouteMessage {
    package struct Answer: Equatable {
        package let route: Route?
    }

    /// Encodes `nlmsghdr`, `rtmsg` and the attribute RTA_DST. There is no RTA_OIF: the interface is what is asked for.
    package static func question(_ address: IPAddress, sequence: UInt32) -> [UInt8] {
        let destination: [UInt8]
        switch address {
        case .v4(let v4): destination = bigEndian(v4.bits)
        case .v6(let v6, _): destination = bigEndian(v6.high) + bigEndian(v6.low)
        }
        let family = UInt8(address.family == .ipv4 ? AF_INET : AF_INET6)
        let route: [UInt8] = [family, UInt8(truncatingIfNeeded: address.bitWidth)] + [UInt8](repeating: 0, count: 10)
        let attribute = native(UInt16(truncatingIfNeeded: 4 + destination.count)) + native(UInt16(1)) + destination
        let length = UInt32(truncatingIfNeeded: 16 + route.count + attribute.count)
        // RTM_GETROUTE, NLM_F_REQUEST, the sequence, and port 0, which the kernel fills in.
        return native(length) + native(UInt16(26)) + native(UInt16(1)) + native(sequence) + native(UInt32(0)) + route
            + attribute
    }

    /// Decodes an answer; nil if it does not belong to the question with this sequence number.
    package static func answer(_ bytes: ArraySlice<UInt8>, sequence: UInt32) -> Answer? {
        let bytes = Array(bytes)
        guard let length = number32(bytes, 0), let type = number16(bytes, 4), number32(bytes, 8) == sequence else {
            return nil
        }
        let end = min(Int(length), bytes.count)
        guard type == 24, end >= 28 else { return Answer(route: nil) }  // RTM_NEWROUTE; else NLMSG_ERROR
        switch bytes[23] {  // rtm_type
        case 1: break  // RTN_UNICAST
        case 2: return Answer(route: .own)  // RTN_LOCAL
        default: return Answer(route: nil)
        }
        var interface: UInt32?
        var isDirect = true
        var start = 28
        while let size = number16(bytes, start), let kind = number16(bytes, start + 2), size >= 4 {
            guard start + Int(size) <= end else { break }
            switch kind {
            case 4 where size == 8: interface = number32(bytes, start + 4)  // RTA_OIF
            case 5, 18: isDirect = false  // RTA_GATEWAY, RTA_VIA
            default: break
            }
            start += (Int(size) + 3) & ~3
        }
        return Answer(route: interface.map { .leaves(by: $0, isDirect: isDirect) })
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Netlink uses the machine's own byte order.
    private static func native(_ value: some FixedWidthInteger) -> [UInt8] {
        unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
    }

    private static func number16(_ bytes: [UInt8], _ start: Int) -> UInt16? {
        guard start >= 0, start + 2 <= bytes.count else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt16.self) }
    }

    private static func number32(_ bytes: [UInt8], _ start: Int) -> UInt32? {
        guard start >= 0, start + 4 <= bytes.count else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
    }
}

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

/// An address of this machine, and the block that its netmask puts it in.
package struct AddressBlock: Hashable, Sendable {
    package let interface: NetworkInterface
    /// Without a scope.
    package let address: IPAddress
    package let block: CIDR

    package init(_ interface: NetworkInterface, _ address: IPAddress, _ block: CIDR) {
        (self.interface, self.address, self.block) = (interface, address, block)
    }

    /// Those of all interfaces, as they are now.
    package static func all() -> [AddressBlock] {
        (InterfaceAddress.all() ?? []).compactMap { item in
            guard let address = item.address?.masked(to: 128), let length = item.netmask?.leadingOneBits,
                let block = CIDR(containing: address, prefixLength: length)
            else { return nil }
            return AddressBlock(item.interface, address, block)
        }
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

/// Where the kernel sends packets to an address if the program names no interface.
public enum Route: Hashable, Sendable {
    /// The address is this machine's own (RTN_LOCAL in rtnetlink(7)).
    case own
    /// Packets leave through the interface with this index; `isDirect` if there is no router in between.
    case leaves(by: UInt32, isDirect: Bool)
}

/// Looks up the kernel's routes: `SystemRoutes` in programs, a table in tests.
public protocol RouteLookup: Sendable {
    /// Returns the route to an address; nil if there is none or it is not known.
    func route(to address: IPAddress) -> Route?
}
