/// The identity of one service: name, type and domain (RFC 6763 §4.1).
///
/// It is the key of everything that is stored about a service, so copies share their storage and the hash is computed
/// once.
public struct ServiceInstance: Sendable {
    private final class Parts: Sendable {
        let name: ServiceName
        let type: ServiceType
        let domain: Domain
        let hash: Int

        init(_ name: ServiceName, _ type: ServiceType, _ domain: Domain) {
            (self.name, self.type, self.domain) = (name, type, domain)
            var hasher = Hasher()
            hasher.combine(name)
            hasher.combine(type)
            hasher.combine(domain)
            hash = hasher.finalize()
        }
    }

    private let parts: Parts

    /// The instance's own name.
    public var name: ServiceName { parts.name }
    /// The type, without a subtype.
    public var type: ServiceType { parts.type }
    /// The domain.
    public var domain: Domain { parts.domain }

    /// Creates an identity; a subtype of `type` is left out.
    public init(name: ServiceName, type: ServiceType, domain: Domain = .local) {
        parts = Parts(name, type.base, domain)
    }
}

extension ServiceInstance {
    /// Creates an identity from text, as a person or a file gives it.
    /// - Throws: the error of the first part that breaks a rule.
    public init(name: String, type: String, domain: String = "local") throws(DiscoveryError) {
        self.init(name: try ServiceName(name), type: try ServiceType(type), domain: try Domain(domain))
    }
}

extension ServiceInstance: Identifiable {
    /// The instance itself: its name, type and domain are what it is known by (RFC 6763 §4.1).
    public var id: ServiceInstance { self }
}

extension ServiceInstance: Hashable {
    /// Compares name, type and domain, each by its own rule.
    public static func == (one: ServiceInstance, other: ServiceInstance) -> Bool {
        one.parts === other.parts
            || one.parts.hash == other.parts.hash && one.name == other.name && one.type == other.type
                && one.domain == other.domain
    }

    /// Hashes name, type and domain.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
}

extension ServiceInstance {
    /// The identity as one DNS name (RFC 6763 §4.3), such as `Büro\.2._ipp._tcp.local`. It is safe for a terminal, and
    /// `init(fullName:)` accepts it.
    public var fullName: String { "\(DNSName.escape(name.text)).\(type).\(domain.text)" }

    /// Reads a full name, with or without a final dot; the domain defaults to `local`.
    /// - Throws: `.invalidServiceName` unless it consists of a name, a type and a domain. A dot within the name is
    ///   written `\.`.
    public init(fullName text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            let labels = try DNSName(presentation: text).labels
            guard labels.count >= 3, let type = ServiceType(observedLabels: labels[1...2]) else {
                let meant = Self.escapedName(in: labels).map { ": write \($0)" } ?? ""
                throw BrokenRule(
                    "not a name, a type and a domain, as in tony._witap._tcp.local; "
                        + "a dot within the name is written \\. (RFC 6763 §4.3)\(meant)")
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

    /// The full name that labels mean whose first ones are parts of one name.
    private static func escapedName(in labels: [String]) -> String? {
        guard labels.count > 3,
            let type = (2...labels.count - 2).first(where: { ServiceType(observedLabels: labels[$0...$0 + 1]) != nil })
        else { return nil }
        let parts = [labels[..<type].joined(separator: ".")] + labels[type...]
        return parts.map(DNSName.escape).joined(separator: ".")
    }

    /// Returns whether a text is meant as a full name rather than an instance's name: a type follows its first label.
    ///
    /// `init(fullName:)` may still refuse the text; its error says what to write.
    public static func looksLikeFullName(_ text: String) -> Bool {
        guard let labels = try? DNSName(presentation: text).labels else { return false }
        return zip(labels.dropFirst(), labels.dropFirst(2)).contains {
            $0.hasPrefix("_") && ServiceType.Transport(label: $1) != nil
        }
    }
}

extension ServiceInstance: Comparable {
    /// Orders by domain, then by type, then by name.
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
