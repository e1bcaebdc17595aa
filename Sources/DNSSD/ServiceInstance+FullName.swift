extension ServiceInstance {
    /// The name as one DNS name (RFC 6763 §4.3): `Büro\.2._ipp._tcp.local`. Safe for a terminal; `init(fullName:)`
    /// reads it.
    public var fullName: String { "\(DNSName.escape(name.value)).\(type).\(domain.name)" }

    /// Reads a full name, with or without a final dot; without a domain `local` is meant.
    /// - Throws: `.invalidServiceName` unless it is a name, a type and a domain, with `\.` for a dot within the name.
    public init(fullName text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            let labels = try DNSName(presentation: text).labels
            guard labels.count >= 3, let type = ServiceType(observedLabels: labels[1...2]) else {
                throw BrokenRule(
                    "not a name, a type and a domain, as in tony._witap._tcp.local; "
                        + "a dot within the name is written \\. (RFC 6763 §4.3)"
                )
            }
            guard labels.count > 3 else {
                self.init(name: ServiceName(observed: labels[0]), type: type)
                return
            }
            let domain = try DNSName(presentation: labels.dropFirst(3).map(DNSName.escape).joined(separator: "."))
            guard domain.wireLength <= DNSName.maximumLength else {
                throw BrokenRule("the domain is longer than \(DNSName.maximumLength) bytes (RFC 1035 §2.3.4)")
            }
            self.init(
                name: ServiceName(observed: labels[0]),
                type: type,
                domain: Domain(unchecked: domain.presentation)
            )
        } catch {
            throw DiscoveryError(.invalidServiceName, text, error)
        }
    }

    /// Whether a text is meant as a full name rather than an instance's name: a type follows a first label.
    ///
    /// `init(fullName:)` may still refuse it, and then says what to write.
    public static func looksLikeFullName(_ text: String) -> Bool {
        guard let labels = try? DNSName(presentation: text).labels else { return false }
        return zip(labels.dropFirst(), labels.dropFirst(2)).contains {
            $0.hasPrefix("_") && ServiceType.Transport(label: $1) != nil
        }
    }
}

extension ServiceInstance: Comparable {
    /// By domain, then type, then name.
    public static func < (one: ServiceInstance, other: ServiceInstance) -> Bool {
        if one.domain != other.domain { return one.domain < other.domain }
        if one.type != other.type { return one.type < other.type }
        return one.name < other.name
    }
}

extension ServiceInstance: CustomStringConvertible {
    /// The full name.
    public var description: String { fullName }
}
