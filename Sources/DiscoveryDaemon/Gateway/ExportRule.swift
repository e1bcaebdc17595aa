public import DNSSD

/// What of a link a gateway brings into a zone: `export:` of the configuration. What no rule names is never exported.
public struct ExportRule: Hashable, Sendable {
    /// The most types that a rule has.
    public static let maximumTypes = 64

    /// The links that are looked at.
    public var interfaces: InterfaceFilter
    /// Where the services are published: a sub-domain of its own for each link.
    public var domain: Domain
    /// The types that are exported, without subtypes.
    public var types: [ServiceType]
    /// The names that are exported.
    public var names: NamePatterns

    /// A rule of these parts.
    public init(
        interfaces: InterfaceFilter, domain: Domain, types: [ServiceType], names: NamePatterns = .all
    ) {
        self.interfaces = interfaces
        self.domain = domain
        self.types = types.map(\.base)
        self.names = names
    }
}
