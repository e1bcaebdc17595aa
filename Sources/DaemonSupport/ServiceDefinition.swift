public import DNSSD
public import Discovery
public import DiscoveryDaemon

/// A service to publish as an administrator or a client described it.
public struct ServiceDefinition: Hashable, Sendable {
    /// What to publish.
    public var service: OfferedService
    /// What to do when the name is taken.
    public var onConflict: ConflictPolicy
    /// What must work for the service to be advertised; nil: it always is.
    public var check: CheckSpecification?

    /// Creates a definition.
    public init(service: OfferedService, onConflict: ConflictPolicy = .rename, check: CheckSpecification? = nil) {
        self.service = service
        self.onConflict = onConflict
        self.check = check
    }
}
