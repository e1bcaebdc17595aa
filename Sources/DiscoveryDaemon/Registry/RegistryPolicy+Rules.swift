internal import DNSSD
internal import Discovery
package import DiscoveryControl
internal import Libc

extension RegistryPolicy {
    /// What access rules and health checks make of it.
    /// - Parameter checks: those of the configuration, taken as they were read: as text they may say less.
    package init(_ access: AccessRules, checks: [RegistrationRequest.Check: CheckSpecification]) {
        self.init(
            refusalToPublish: { peer, service, origin in
                guard let uid = peer.uid else { return "only the control socket knows who you are" }
                return access.mayPublish(
                    uid: uid, gids: peer.groups, userName: peer.userName, service, isAttached: origin == .attached
                ).refusal
            },
            refusalToManage: { peer in
                guard let uid = peer.uid else { return "only the control socket knows who you are" }
                return access.mayManage(uid: uid, gids: peer.groups, userName: peer.userName).refusal
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
                var specification = checks[check]
                do throws(DiscoveryError) {
                    if specification == nil { specification = try CheckSpecification(check) }
                } catch {
                    // It was kept by another version.
                    return report(.failing(reason: error.message))
                }
                guard let specification else { return }
                await HealthChecker().run(specification, port: port, report: report)
            },
            listens: { $0.host == nil ? ListeningPorts.isOpen($0.port, $0.type.transport) : nil }
        )
    }
}
