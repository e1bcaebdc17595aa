package import DNSSD
package import Discovery
package import DiscoveryControl
import DiscoverySystem

/// The daemon without its process: queries that are kept open, registrations, and the control server over sockets that are
/// handed in.
package final class Daemon: Sendable {
    /// Settings that come from the configuration.
    package struct Settings: Sendable {
        package var browse: Set<ServiceType>
        package var services: [RegistrationRequest]
        package var policy: RegistryPolicy

        package init(browse: Set<ServiceType> = [], services: [RegistrationRequest] = [], policy: RegistryPolicy) {
            self.browse = browse
            self.services = services
            self.policy = policy
        }
    }

    /// What a configuration is applied to, and where it is said what is wrong with one.
    package struct Configurable: Sendable {
        let warm: OpenQueries
        let registry: Registry
        package let health: BackendHealth

        /// Applies a configuration; what stays the same is not touched.
        package func apply(_ settings: Settings) async {
            warm.pin(settings.browse)
            await registry.configure(settings.services, policy: settings.policy)
        }
    }

    package let network: LocalNetwork
    package let warm: OpenQueries
    package let registry: Registry
    package let health: BackendHealth
    package let server: ControlServer
    /// What a configuration is applied to.
    package let configurable: Configurable
    /// What finds and what publishes, in as many parts as there are.
    private let backends: [(role: any EngineRole, does: Set<BackendHealth.Role>)]
    private let log: DaemonLog
    private let settings: Settings
    /// Held for the daemon's lifetime.
    private let state: StateDirectory
    private let end = Locked<Task<Void, Never>?>(nil)
    /// While it ends: services whose goodbyes are not sent yet.
    private let unsentGoodbyes = Locked(0)

    /// - Parameters:
    ///   - publisher: what publishes, where `engine` does so with something else than it finds with.
    ///   - finder: what finds services of the link, in the same case.
    ///   - reload: reads the configuration again and applies it; its error becomes the answer.
    package init(
        engine: any DiscoveryEngine,
        finder: (any ServiceFinder)? = nil,
        publisher: (any ServicePublisher)? = nil,
        limits: DiscoveryLimits? = nil,
        settings: Settings,
        state: StateDirectory,
        facts: DaemonFacts,
        log: DaemonLog,
        reload: @escaping @Sendable (Configurable) async -> Result<[String], ControlError>
    ) {
        let network = LocalNetwork(engine: engine, limits: limits)
        let warm = OpenQueries(network: network, troubles: { engine.troubles })
        let health = BackendHealth { warm.omissions }
        let registry = Self.registry(on: network, in: state, settings.policy, health, log)
        let configurable = Configurable(warm: warm, registry: registry, health: health)
        let metrics = MetricsRegistry()
        let clients = Connections(limits: facts.limits)
        let responder = ControlResponder(
            network: network, warm: warm, registry: registry, health: health, metrics: metrics, facts: facts,
            clientCount: { clients.count }, reload: { await reload(configurable) })
        server = ControlServer(clients, limits: facts.limits, metrics: metrics, log: log) { request in
            await Version2Request.answer(to: request) { await responder.respond($0) }
        }
        backends =
            if let finder, let publisher { [(finder, [.finder]), (publisher, [.publisher])] } else {
                [(engine, [.finder, .publisher])]
            }
        self.state = state
        self.network = network
        self.warm = warm
        self.registry = registry
        self.health = health
        self.configurable = configurable
        self.log = log
        self.settings = settings
    }

    /// The registrations, whose troubles are a matter of health.
    private static func registry(
        on network: LocalNetwork, in state: StateDirectory, _ policy: RegistryPolicy, _ health: BackendHealth,
        _ log: DaemonLog
    ) -> Registry {
        Registry(
            network: network, file: state.path.map { RegistryFile(directory: $0) },
            whyNoFile: state.reason ?? "it has no state directory", policy: policy, log: log
        ) { problem in
            if let problem { log.warning(problem) }
            health.note("state", problem, toAll: "what is handed over may not be kept over a restart")
        } noteTrouble: { id, problem in
            health.note(registration: id, problem)
        } noteCount: { count in
            health.note(publications: count)
        }
    }

    /// Serves until the task is cancelled; then withdraws everything, with goodbyes, in less than 2 s; from DNS servers
    /// that go on answering, in less than 8.
    package func run(
        _ listeners: [ControlServer.Listener],
        whenServing: @escaping @Sendable () async -> Void = {}
    ) async throws {
        await configurable.apply(settings)
        await registry.restore()
        let watches = watchBackends()
        let background = Task { await tidy() }
        var failure: (any Error)?
        // At once, beside the server's end: connections may close slowly, goodbyes must not wait.
        await withTaskCancellationHandler {
            do {
                try await server.run(listeners, whenServing: whenServing)
            } catch {
                failure = error
            }
        } onCancel: {
            _ = self.closing()
        }
        background.cancel()
        for watch in watches { watch.cancel() }
        await closing().value
        warnOfUnsentGoodbyes()
        if let failure { throw failure }
    }

    /// Says how many services others go on seeing for a while, if any: to be called before the process ends.
    package func warnOfUnsentGoodbyes() {
        let left = unsentGoodbyes.exchange(0)
        guard left > 0 else { return }
        log.warning(
            "goodbyes of \(left) services were not sent in time: others may see them for two minutes more")
    }

    /// Ends everything but the server, once. A separate task: goodbyes are sent because another was cancelled.
    private func closing() -> Task<Void, Never> {
        end.withLock { end in
            let task =
                end
                ?? Task {
                    await self.registry.close(left: self.unsentGoodbyes) {
                        self.warm.close()
                        return await self.network.shutdown()
                    }
                }
            end = task
            return task
        }
    }

    /// Follows what finds and what publishes, for the log and the health.
    private func watchBackends() -> [any EngineOperation] {
        backends.map { backend in
            let history = Locked(BackendWatch())
            return backend.role.watchState { [log, health] state in
                guard let news = history.withLock({ $0.became(state) }) else { return }
                log.tell(news, of: backend.does, isNeeded: backend.does.contains(.finder) || health.publishes)
                health.became(news, backend.does)
            }
        }
    }

    private func tidy() async {
        while (try? await Task.sleep(for: .seconds(10))) != nil {
            warm.sweep()
            await registry.saveAgain()
        }
    }
}

extension DaemonLog {
    /// The wire is always available, so its state is not logged.
    fileprivate func tell(_ state: BackendState, of roles: Set<BackendHealth.Role>, isNeeded: Bool) {
        guard roles.contains(.publisher) else { return }
        switch state {
        case .available: notice("services can be published")
        case .unavailable(let reason): log(isNeeded ? .warning : .notice, "nothing publishes yet: \(reason)")
        case .lost(let reason): warning("nothing publishes now: \(reason)")
        case .recovered: notice("services are published again")
        }
    }
}
