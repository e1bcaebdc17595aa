package import DNSSD
package import Discovery
package import DiscoveryControl

/// What the registry needs from the configuration: permissions, and how services are checked.
package struct RegistryPolicy: Sendable {
    /// Why a peer may not publish a service for as long as its origin says; nil when it may.
    package var refusalToPublish: @Sendable (Peer, OfferedService, RegistrationStatus.Origin) -> String?
    /// Why a peer may not manage the daemon; nil when it may.
    package var refusalToManage: @Sendable (Peer) -> String?
    /// The rules that let a peer publish some services.
    package var rules: @Sendable (Peer) -> [AccessRules.Rule]
    /// How many services a user may publish.
    package var quota: @Sendable (UInt32) -> Int
    /// Validates a check; throws the rule that it breaks.
    package var validate: @Sendable (RegistrationRequest.Check, Peer) throws(DiscoveryError) -> Void
    /// Checks a service until the task is cancelled, and reports what changes.
    package var check: @Sendable (RegistrationRequest.Check, Port, @escaping @Sendable (Health) -> Void) async -> Void
    /// Whether a program listens at a service's port on this machine; nil when unknown.
    package var listens: @Sendable (OfferedService) -> Bool?

    package init(
        refusalToPublish: @escaping @Sendable (Peer, OfferedService, RegistrationStatus.Origin) -> String?,
        refusalToManage: @escaping @Sendable (Peer) -> String?,
        rules: @escaping @Sendable (Peer) -> [AccessRules.Rule] = { _ in [] },
        quota: @escaping @Sendable (UInt32) -> Int,
        validate: @escaping @Sendable (RegistrationRequest.Check, Peer) throws(DiscoveryError) -> Void,
        check:
            @escaping @Sendable (
                RegistrationRequest.Check, Port, @escaping @Sendable (Health) -> Void
            ) async -> Void,
        listens: @escaping @Sendable (OfferedService) -> Bool? = { _ in nil }
    ) {
        self.refusalToPublish = refusalToPublish
        self.refusalToManage = refusalToManage
        self.rules = rules
        self.quota = quota
        self.validate = validate
        self.check = check
        self.listens = listens
    }
}
