import CAvahi
import DNSSD
import Glibc

/// The interface and address family on which Avahi saw something.
struct AvahiPath: Hashable {
    let index: Int32
    let family: IPAddress.Family
    /// AVAHI_LOOKUP_RESULT_LOCAL: published on this machine.
    let isLocal: Bool

    static let anyInterface: AvahiIfIndex = -1

    /// Nil for results that are not on a link of this machine: without an interface (AVAHI_IF_UNSPEC is never a scope), or from wide-area
    /// DNS.
    init?(interface: AvahiIfIndex, avahiProtocol: AvahiProtocol, flags: AvahiLookupResultFlags) {
        guard interface > 0, flags.rawValue & AVAHI_LOOKUP_RESULT_WIDE_AREA.rawValue == 0 else { return nil }
        index = interface
        family = avahiProtocol == AvahiProtocol(AVAHI_PROTO_INET6) ? .ipv6 : .ipv4
        isLocal = flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0
    }

    static func == (one: AvahiPath, other: AvahiPath) -> Bool { one.index == other.index && one.family == other.family }

    func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(family)
    }

    static func avahiProtocol(_ family: IPAddress.Family?) -> AvahiProtocol {
        switch family {
        case .ipv4: AvahiProtocol(AVAHI_PROTO_INET)
        case .ipv6: AvahiProtocol(AVAHI_PROTO_INET6)
        case nil: AvahiProtocol(AVAHI_PROTO_UNSPEC)
        }
    }
}

extension NetworkInterface {
    /// The interface that has this index now; nil if it is gone.
    init?(systemIndex index: Int32) {
        guard index > 0 else { return nil }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE) + 1)
        let found = unsafe name.withUnsafeMutableBufferPointer { buffer in
            unsafe if_indextoname(UInt32(index), buffer.baseAddress) != nil
        }
        guard found else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        self.init(index: UInt32(index), name: String(decoding: bytes, as: UTF8.self))
    }
}

extension IPAddress.Family {
    var other: IPAddress.Family { self == .ipv4 ? .ipv6 : .ipv4 }
}
