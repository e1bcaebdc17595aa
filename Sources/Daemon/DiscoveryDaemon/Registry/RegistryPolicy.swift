package import DNSSD
package import Discovery
package import DiscoveryControl
internal import Libc

/// What the registry needs from the configuration: permissions, and how services are checked.
package struct RegistryPolicy: Sendable {
    /// Why a peer may not publish a service for as long as its origin says; nil when it may.
    package var refusalToPublish: @Sendable (SocketPeer, OfferedService, RegistrationStatus.Origin) -> String?
    /// Why a peer may not manage the daemon; nil when it may.
    package var refusalToManage: @Sendable (SocketPeer) -> String?
    /// The rules that let a peer publish some services.
    package var rules: @Sendable (SocketPeer) -> [AccessRules.Rule] = { _ in [] }
    /// How many services a user may publish.
    package var quota: @Sendable (UInt32) -> Int
    /// Validates a check; throws the rule that it breaks.
    package var validate: @Sendable (RegistrationRequest.Check, SocketPeer) throws(DiscoveryError) -> Void
    /// Checks a service until the task is cancelled, and reports what changes.
    package var check: @Sendable (RegistrationRequest.Check, Port, @escaping @Sendable (Health) -> Void) async -> Void
    /// Whether a program listens at a service's port on this machine; nil when unknown.
    package var listens: @Sendable (OfferedService) -> Bool? = { _ in nil }
}

extension RegistryPolicy {
    /// What access rules and health checks make of it.
    package init(_ access: AccessRules) {
        self.init(
            refusalToPublish: { peer, service, origin in
                guard let uid = peer.uid else { return "only the control socket knows who you are" }
                return access.refusalToPublish(
                    uid: uid, gids: peer.groups, userName: peer.userName, service, isAttached: origin == .attached)
            },
            refusalToManage: { peer in
                guard let uid = peer.uid else { return "only the control socket knows who you are" }
                return access.refusalToManage(uid: uid, gids: peer.groups, userName: peer.userName)
            },
            rules: { peer in
                peer.uid.map { access.rules(uid: $0, gids: peer.groups, userName: peer.userName) } ?? []
            },
            quota: { access.quota(uid: $0) },
            validate: { check, peer throws(DiscoveryError) in
                switch try CheckSpecification(check).kind {
                case .tcp, .http: return
                case .exec, .unit, .pid:
                    // It would be done with the daemon's rights.
                    guard peer.uid == 0 || peer.uid == geteuid() else {
                        throw DiscoveryError(
                            .notPermitted,
                            "only root and the daemon's user may have the daemon run this check: \(check.text.quotedForMessage)"
                        )
                    }
                }
            },
            check: { check, port, report in
                do throws(DiscoveryError) {
                    await HealthChecker().run(try CheckSpecification(check), port: port, report: report)
                } catch {
                    // It was kept by another version.
                    report(.failing(reason: error.message))
                }
            },
            listens: { service in
                guard !service.isAddressRecord, service.host?.isAlias ?? true else { return nil }
                return ListeningPorts.isOpen(service.port, service.type.transport)
            }
        )
    }
}
