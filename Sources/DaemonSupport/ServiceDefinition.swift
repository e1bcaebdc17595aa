public import DNSSD
public import Discovery
public import DiscoveryDaemon

/// A service to publish as an administrator or a client described it.
public struct ServiceDefinition: Hashable, Sendable {
    /// What to publish.
    public var service: OfferedService
    /// What to do if the name is taken.
    public var onConflict: ConflictPolicy
    /// The check that must pass for the service to be advertised; nil for none.
    public var check: CheckSpecification?

    /// Creates a definition.
    public init(service: OfferedService, onConflict: ConflictPolicy = .rename, check: CheckSpecification? = nil) {
        self.service = service
        self.onConflict = onConflict
        self.check = check
    }
}
