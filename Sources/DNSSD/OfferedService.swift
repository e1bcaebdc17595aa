/// What to publish: a service of this machine.
public struct OfferedService: Hashable, Sendable {
    /// The wanted name, which a collision may change (RFC 6763 Appendix D).
    public var name: ServiceName
    /// The type, without a subtype.
    public var type: ServiceType
    /// The domain.
    public var domain: Domain
    /// The port on which the service listens.
    public var port: Port
    /// What the service says of itself.
    public var txt: TXTRecord
    /// Subtype labels with their underscore: `_printer`.
    public var subtypes: [String]
    /// The interfaces on which to publish.
    public var interfaces: InterfaceFilter
    /// Publish over IPv4 or IPv6 only.
    public var family: IPAddress.Family?

    /// Creates a description from checked parts.
    public init(
        name: ServiceName,
        type: ServiceType,
        domain: Domain = .local,
        port: Port,
        txt: TXTRecord = TXTRecord(),
        subtypes: [String] = [],
        interfaces: InterfaceFilter = .all,
        family: IPAddress.Family? = nil
    ) {
        self.name = name
        self.type = type.base
        self.domain = domain
        self.port = port
        self.txt = txt
        self.subtypes = subtypes
        self.interfaces = interfaces
        self.family = family
    }
}

/// The former name, which clashed with ServiceLifecycle's protocol.
@available(*, unavailable, renamed: "OfferedService")
public typealias Service = OfferedService
