import CAvahi
import DNSSD
import Libc

/// The interface and address family on which Avahi saw something.
struct AvahiPath: Hashable {
    /// Less than 1: none (AVAHI_IF_UNSPEC, which is never a scope).
    let index: Int32
    let family: IPAddress.Family
    /// The end of a sighting lacks some, so equality ignores them.
    private let flags: AvahiLookupResultFlags

    static let anyInterface: AvahiIfIndex = -1

    init(interface: AvahiIfIndex, avahiProtocol: AvahiProtocol, flags: AvahiLookupResultFlags) {
        index = interface
        family = avahiProtocol == AvahiProtocol(AVAHI_PROTO_INET6) ? .ipv6 : .ipv4
        self.flags = flags
    }

    /// Whether it is published on this machine.
    var isLocal: Bool { flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0 }

    /// Whether it is a link of this machine, and not wide-area DNS.
    var isOnLink: Bool { index > 0 && flags.rawValue & AVAHI_LOOKUP_RESULT_WIDE_AREA.rawValue == 0 }

    /// Nil when the interface has gone, or is not to be looked at.
    func interface(allowedBy filter: InterfaceFilter) -> NetworkInterface? {
        guard let interface = NetworkInterface(systemIndex: index), filter.allows(interface.name) else { return nil }
        return interface
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
