#if Commands
internal import DNSSD
internal import DaemonSupport
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import Glibc

extension Daemon.Settings {
    /// What a configuration makes of the daemon.
    init(_ configuration: DaemonConfiguration) {
        // A check of the configuration is taken as it was read; as text it may say less.
        var checks: [RegistrationRequest.Check: CheckSpecification] = [:]
        var services: [RegistrationRequest] = []
        for definition in configuration.services {
            let check = definition.check.map { RegistrationRequest.Check($0) }
            if let check { checks[check] = definition.check }
            services.append(RegistrationRequest(definition.service, onConflict: definition.onConflict, check: check))
        }
        let access = configuration.access
        self.init(
            browse: Set(configuration.browse),
            services: services,
            policy: RegistryPolicy(
                refusalToPublish: { peer, service, origin in
                    guard let uid = peer.uid else { return "only the control socket knows who you are" }
                    let decision = access.mayPublish(
                        uid: uid, gids: peer.groups, userName: peer.userName, service, isAttached: origin == .attached)
                    return decision.refusal
                },
                refusalToManage: { peer in
                    guard let uid = peer.uid else { return "only the control socket knows who you are" }
                    return access.mayManage(uid: uid, gids: peer.groups, userName: peer.userName).refusal
                },
                quota: { access.quota(uid: $0) },
                validate: { check, peer throws(DiscoveryError) in
                    let specification = try CheckSpecification(check)
                    switch specification.kind {
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
                check: { [checks] check, port, report in
                    var specification = checks[check]
                    do throws(DiscoveryError) {
                        if specification == nil { specification = try CheckSpecification(check) }
                    } catch {
                        // It was kept by another version.
                        return report(.failing(error.message))
                    }
                    guard let specification else { return }
                    await HealthChecker().run(specification, port: port) { report(ServiceHealth($0)) }
                },
                listens: { ListeningPorts.isOpen($0.port, $0.type.transport) }
            )
        )
    }
}

extension RegistrationRequest.Check {
    init(_ specification: CheckSpecification) {
        self.init(specification.description)
        intervalMilliseconds = specification.interval.wholeMilliseconds
        timeoutMilliseconds = specification.timeout.wholeMilliseconds
        rise = specification.rise
        fall = specification.fall
    }
}

extension CheckSpecification {
    /// What a client asked for, with the daemon's defaults for what it left out.
    init(_ check: RegistrationRequest.Check) throws(DiscoveryError) {
        try self.init(
            check.text,
            interval: .milliseconds(check.intervalMilliseconds ?? 10_000),
            timeout: .milliseconds(check.timeoutMilliseconds ?? 2000),
            rise: check.rise ?? 2,
            fall: check.fall ?? 3
        )
    }
}

extension ServiceHealth {
    init(_ health: Health) {
        switch health {
        case .unknown: self = .unknown
        case .passing: self = .passing
        case .failing(let reason): self = .failing(reason)
        }
    }
}

extension AccessRules.Decision {
    fileprivate var refusal: String? { if case .denied(let reason) = self { reason } else { nil } }
}

extension Duration {
    /// Of a time that `CheckSpecification` has bounded.
    fileprivate var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
#endif
