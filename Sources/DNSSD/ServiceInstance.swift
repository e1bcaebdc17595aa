/// The identity of one service: name, type, domain (RFC 6763 §4.1). What is browsed for, resolved, and connected to.
///
/// A copy is one reference, and its hash is computed once: it is the key of everything that is kept about a service.
public struct ServiceInstance: Sendable {
    private final class Parts: Sendable {
        let name: ServiceName
        let type: ServiceType
        let domain: Domain
        let hash: Int

        init(_ name: ServiceName, _ type: ServiceType, _ domain: Domain) {
            self.name = name
            self.type = type
            self.domain = domain
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
    /// Its type, without a subtype.
    public var type: ServiceType { parts.type }
    /// Its domain.
    public var domain: Domain { parts.domain }

    /// Creates an identity from checked parts.
    public init(name: ServiceName, type: ServiceType, domain: Domain = .local) {
        parts = Parts(name, type.base, domain)
    }
}

extension ServiceInstance: Hashable {
    /// By name, type and domain, each by its own rule.
    public static func == (one: ServiceInstance, other: ServiceInstance) -> Bool {
        one.parts === other.parts
            || one.parts.hash == other.parts.hash && one.name == other.name && one.type == other.type
                && one.domain == other.domain
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
}
