/// The kind of a service: an application protocol over a transport, with or without a subtype (RFC 6763 §7).
///
/// Types are compared as DNS compares names, without regard to ASCII case.
public struct ServiceType: Sendable {
    /// The transport label. Everything that is not TCP is `_udp` (RFC 6763 §7).
    public enum Transport: String, Hashable, Sendable {
        /// TCP.
        case tcp = "_tcp"
        /// UDP and every other transport.
        case udp = "_udp"
    }

    /// The application protocol with its underscore, such as `_witap`; unescaped.
    public let name: String
    /// The transport.
    public let transport: Transport
    /// The subtype label, such as `_printer` in `_printer._sub._http._tcp` (RFC 6763 §7.1); unescaped.
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
    /// Compares name, transport and subtype without regard to ASCII case.
    public static func == (one: ServiceType, other: ServiceType) -> Bool {
        one.transport == other.transport && one.name.hasSameFoldedBytes(as: other.name)
            && (one.subtype ?? "").hasSameFoldedBytes(as: other.subtype ?? "")
    }

    /// Hashes without regard to ASCII case.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transport)
        hasher.combine(utf8: name, foldingCase: true)
        hasher.combine(utf8: subtype ?? "", foldingCase: true)
    }
}

extension ServiceType: CustomStringConvertible {
    /// `text`.
    public var description: String { text }

    /// The type as text, such as `_witap._tcp` or `_printer._sub._http._tcp`: escaped in Avahi's form, and safe for a
    /// terminal.
    public var text: String {
        let base = "\(DNSName.escape(name)).\(transport.rawValue)"
        guard let subtype else { return base }
        return "\(DNSName.escape(subtype))._sub.\(base)"
    }
}

extension ServiceType: Comparable {
    /// Orders by name, then by transport, then by subtype, without regard to ASCII case.
    public static func < (one: ServiceType, other: ServiceType) -> Bool {
        if !one.name.isSameDNSLabel(as: other.name) { return one.name.precedesAsDNSLabel(other.name) }
        if one.transport != other.transport { return one.transport.rawValue < other.transport.rawValue }
        return (one.subtype ?? "").precedesAsDNSLabel(other.subtype ?? "")
    }
}

extension ServiceType {
    /// Returns a subtype label to publish: `printer` and `_printer` both give `_printer`. Escapes in `label` are not
    /// interpreted.
    /// - Throws: `.invalidServiceType` unless it has 1 to 63 bytes with its underscore and no control characters (RFC
    ///   6763 §7.1).
    public static func validatedSubtype(_ label: String) throws(DiscoveryError) -> String {
        do throws(BrokenRule) {
            guard label != "", label != "_" else { throw BrokenRule("the subtype is empty (RFC 6763 §7.1)") }
            let result = label.hasPrefix("_") ? label : "_" + label
            guard result.utf8.count <= DNSName.maximumLabelLength else {
                throw BrokenRule(
                    "the subtype has \(result.utf8.count) bytes, at most \(DNSName.maximumLabelLength) are allowed"
                )
            }
            guard !result.contains("._sub.") else {
                throw BrokenRule("the subtype is the label before ._sub. alone (RFC 6763 §7.1)")
            }
            try result.checkPublishable()
            return result
        } catch {
            throw DiscoveryError(.invalidServiceType, label, error)
        }
    }

    /// Returns the type with a subtype: `_printer._sub._http._tcp`.
    /// - Throws: `.invalidServiceType` as `validatedSubtype(_:)` does.
    public func withSubtype(_ label: String) throws(DiscoveryError) -> ServiceType {
        ServiceType(name: name, transport: transport, subtype: try Self.validatedSubtype(label))
    }
}

extension ServiceType {
    /// Reads a type that a person, a program or a file names.
    /// - Throws: `.invalidServiceType` if `init(_:)` or `checkedForAvahi()` refuses it.
    package init(named text: String) throws(DiscoveryError) {
        self = try ServiceType(text).checkedForAvahi()
    }

    /// Returns the type if Avahi accepts it. Avahi refuses a label with a single character after the underscore
    /// (avahi-common/domain.c, `avahi_is_valid_service_type_generic`), which RFC 6335 §5.1 allows: such a type can
    /// neither be browsed, resolved nor published.
    /// - Throws: `.invalidServiceType` if Avahi refuses it.
    package func checkedForAvahi() throws(DiscoveryError) -> ServiceType {
        for label in [name, subtype].compactMap(\.self) where label.utf8.count <= 2 || !label.hasPrefix("_") {
            throw DiscoveryError(
                .invalidServiceType,
                "\(self): avahi-daemon takes no \"\(label.escapedForTerminal)\": it wants an underscore and two letters or more"
            )
        }
        return self
    }
}

extension ServiceType {
    /// Makes a type from any identifier, such as an application's: `com.example.WiTap 2` gives `_com-example-wit._tcp`.
    ///
    /// Letters become lower case, each run of other characters except digits becomes one hyphen, and the name is cut to
    /// 15 characters (RFC 6335 §5.1). Nil if no letter is left.
    public init?(identifier: String, transport: Transport = .tcp) {
        var name = ""
        for byte in identifier.utf8 where name.utf8.count < Self.maximumNameLength {
            if byte.isASCIIAlphanumeric {
                name.unicodeScalars.append(Unicode.Scalar(byte.asciiLowercased))
            } else if !name.isEmpty, !name.hasSuffix("-") {
                name += "-"
            }
        }
        if name.hasSuffix("-") { name.removeLast() }
        guard name.utf8.contains(where: \.isASCIILetter) else { return nil }
        self.init(name: "_" + name, transport: transport, subtype: nil)
    }
}
