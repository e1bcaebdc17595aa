/// The identity of one service: name, type, domain (RFC 6763 §4.1). What is browsed for, resolved, and connected to.
public struct ServiceInstance: Hashable, Sendable {
    /// The instance's own name.
    public let name: ServiceName
    /// Its type, without a subtype.
    public let type: ServiceType
    /// Its domain.
    public let domain: Domain

    /// Creates an identity from checked parts.
    public init(name: ServiceName, type: ServiceType, domain: Domain = .local) {
        self.name = name
        self.type = type.base
        self.domain = domain
    }
}
