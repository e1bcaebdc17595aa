#if Commands
internal import DiscoveryDaemon
internal import DiscoveryControl

extension Daemon.Settings {
    /// The daemon's settings in a configuration.
    init(_ configuration: DaemonConfiguration) {
        var checks: [RegistrationRequest.Check: CheckSpecification] = [:]
        var services: [RegistrationRequest] = []
        for definition in configuration.services {
            let check = definition.check.map { RegistrationRequest.Check($0) }
            if let check { checks[check] = definition.check }
            services.append(RegistrationRequest(definition.service, onConflict: definition.onConflict, check: check))
        }
        self.init(
            browse: Set(configuration.browse), services: services,
            policy: RegistryPolicy(configuration.access, checks: checks))
    }
}
#endif
