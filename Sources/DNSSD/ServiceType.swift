/// The kind of a service: an application protocol over a transport, perhaps narrowed to a subtype (RFC 6763 §7).
///
/// Two types are equal when their labels are equal without regard to ASCII case, as DNS compares names.
public struct ServiceType: Sendable {
    /// The transport label. Everything that is not TCP is `_udp` (RFC 6763 §7).
    public enum Transport: String, Hashable, Sendable {
        /// `_tcp`
        case tcp = "_tcp"
        /// `_udp`
        case udp = "_udp"
    }

    /// The application protocol with its underscore, as `_witap`; unescaped.
    public let name: String
    /// TCP, or everything else.
    public let transport: Transport
    /// The subtype label, as `_printer` in `_printer._sub._http._tcp` (RFC 6763 §7.1); unescaped.
    public let subtype: String?

    init(name: String, transport: Transport, subtype: String?) {
        self.name = name
        self.transport = transport
        self.subtype = subtype
    }

    /// The type without its subtype.
    public var base: ServiceType { ServiceType(name: name, transport: transport, subtype: nil) }
}

extension ServiceType: Hashable {
    /// Without regard to ASCII case.
    public static func == (one: ServiceType, other: ServiceType) -> Bool {
        one.transport == other.transport && one.name.hasSameFoldedBytes(as: other.name)
            && (one.subtype ?? "").hasSameFoldedBytes(as: other.subtype ?? "")
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transport)
        hasher.combine(utf8: name, foldingCase: true)
        hasher.combine(utf8: subtype ?? "", foldingCase: true)
    }
}

extension ServiceType: CustomStringConvertible {
    /// `_witap._tcp`, or `_printer._sub._http._tcp`: escaped as Avahi reads it, and safe for a terminal.
    public var description: String {
        let base = "\(DNSName.escape(name)).\(transport.rawValue)"
        guard let subtype else { return base }
        return "\(DNSName.escape(subtype))._sub.\(base)"
    }
}
