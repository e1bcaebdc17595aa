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
        (self.name, self.transport, self.subtype) = (name, transport, subtype)
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
                    "the subtype has \(result.utf8.count) bytes, at most \(DNSName.maximumLabelLength) are allowed")
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
            let of = label == name ? "\(base): " : ""
            throw DiscoveryError(
                .invalidServiceType,
                "\(of)\"\(label.escapedForTerminal)\" needs an underscore and two letters or more: avahi-daemon takes no other, here or elsewhere"
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

extension ServiceType {
    /// The longest service name in bytes, without its underscore (RFC 6335 §5.1).
    public static let maximumNameLength = 15

    /// Reads `_witap._tcp`, `_witap._tcp.local.`, `witap` (which means TCP) or `_printer._sub._http._tcp`.
    /// - Throws: `.invalidServiceType` if the text breaks RFC 6335 §5.1 or RFC 6763 §7, or has a domain other than
    ///   `local`.
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            self = try Self.parse(DNSName(presentation: text).labels)
        } catch {
            throw DiscoveryError(.invalidServiceType, text, error)
        }
    }

    private static func parse(_ labels: [String]) throws(BrokenRule) -> ServiceType {
        if labels.count == 1, let only = labels.first {
            guard !only.hasPrefix("_") else { throw BrokenRule("no transport: \(DNSName.escape(only))._tcp is a type") }
            try checkName(only)
            return ServiceType(name: "_" + only, transport: .tcp, subtype: nil)
        }
        let isSubtype = labels.count > 2 && labels[1].isSameDNSLabel(as: "_sub")
        let type = isSubtype ? labels.dropFirst(2) : labels[...]
        guard let name = type.first, let transportLabel = type.dropFirst().first else {
            throw BrokenRule("a subtype is written as _printer._sub._http._tcp (RFC 6763 §7.1)")
        }
        guard let transport = Transport(label: transportLabel) else {
            throw BrokenRule("the transport \(transportLabel.quotedForMessage) is neither _tcp nor _udp (RFC 6763 §7)")
        }
        guard name.hasPrefix("_") else {
            throw BrokenRule("the service name must begin with an underscore (RFC 6763 §7)")
        }
        try checkName(name.dropFirst())
        try checkDomain(type.dropFirst(2))
        let subtype = isSubtype ? labels[0] : nil
        try subtype?.checkPublishable()
        return ServiceType(name: name, transport: transport, subtype: subtype)
    }

    private static func checkDomain(_ labels: ArraySlice<String>) throws(BrokenRule) {
        guard let first = labels.first else { return }
        guard labels.count == 1, first.isSameDNSLabel(as: "local") else {
            let domain = labels.map(DNSName.escape).joined(separator: ".")
            throw BrokenRule("a type has no domain; give \(domain.quotedForMessage) with --domain")
        }
    }

    /// Checks a name, without its underscore, by RFC 6335 §5.1.
    private static func checkName(_ name: some StringProtocol) throws(BrokenRule) {
        let bytes = name.utf8
        guard !bytes.isEmpty else { throw BrokenRule("the service name is empty (RFC 6335 §5.1)") }
        let isAllowed = { (scalar: Unicode.Scalar) in
            scalar == "-" || (scalar.isASCII && UInt8(truncatingIfNeeded: scalar.value).isASCIIAlphanumeric)
        }
        if let wrong = name.unicodeScalars.first(where: { !isAllowed($0) }) {
            throw BrokenRule(
                "\(String(wrong).quotedForMessage) in a service name is not a letter, digit or hyphen (RFC 6335 §5.1)")
        }
        guard bytes.count <= maximumNameLength else {
            throw BrokenRule(
                "the service name has \(bytes.count) characters, "
                    + "at most \(maximumNameLength) are allowed (RFC 6335 §5.1)")
        }
        guard bytes.contains(where: \.isASCIILetter) else {
            throw BrokenRule("the service name has no letter (RFC 6335 §5.1)")
        }
        guard !name.hasPrefix("-"), !name.hasSuffix("-") else {
            throw BrokenRule("the service name begins or ends with a hyphen (RFC 6335 §5.1)")
        }
        let hyphen = UInt8(ascii: "-")
        guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == hyphen && $1 == hyphen }) else {
            throw BrokenRule("the service name has two hyphens in a row (RFC 6335 §5.1)")
        }
    }
}

extension ServiceType.Transport {
    init?(label: String) {
        if label.isSameDNSLabel(as: "_tcp") {
            self = .tcp
        } else if label.isSameDNSLabel(as: "_udp") {
            self = .udp
        } else {
            return nil
        }
    }
}

extension ServiceType {
    /// Reads a type that was seen on the network, in escaped form and without a domain. Accepts names that RFC 6335
    /// forbids if DNS can carry them.
    ///
    /// Nil unless the text is a label followed by `_tcp` or `_udp`, or a subtype of such a type.
    public init?(observed text: String) {
        guard let labels = try? DNSName(presentation: text).labels else { return nil }
        self.init(observedLabels: labels[...])
    }

    /// Reads a type that someone looks for. RFC 6335 and avahi-daemon's rules bind publishers; existing types are taken as they are.
    /// - Throws: `.invalidServiceType` as `init(_:)` does, where DNS cannot carry it, or it is no type.
    package init(sought text: String) throws(DiscoveryError) {
        do throws(DiscoveryError) {
            self = try ServiceType(text)
        } catch {
            var labels = (try? DNSName(presentation: text).labels) ?? []
            if labels.last?.isSameDNSLabel(as: "local") == true { labels.removeLast() }
            guard let observed = ServiceType(observedLabels: labels[...]) else { throw error }
            self = observed
        }
    }

    /// Why no one may publish this type; nil if one may.
    package var breach: DiscoveryError? {
        do throws(DiscoveryError) {
            _ = try ServiceType(named: text)
            return nil
        } catch {
            return error
        }
    }

    init?(observedLabels labels: ArraySlice<String>) {
        guard let last = labels.last, let transport = Transport(label: last) else { return nil }
        let others = Array(labels.dropLast())
        switch others.count {
        case 1: self.init(name: others[0], transport: transport, subtype: nil)
        case 3 where others[1].isSameDNSLabel(as: "_sub"):
            self.init(name: others[2], transport: transport, subtype: others[0])
        default: return nil
        }
    }
}
