internal import AvahiEngine
internal import CommandFrame
internal import CoreMetrics
internal import DNSSD
internal import DaemonSupport
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import Glibc
internal import Logging
internal import ServiceLifecycle
internal import System
internal import UnixSignals

/// The daemon as a process: what it is made of, and how it ends.
struct DaemonProcess {
    /// What the process ends with.
    static let endStatus = Locked<Int32>(0)

    private let command: DaemonCommand
    private let configuration: DaemonConfiguration

    init(_ command: DaemonCommand, _ configuration: DaemonConfiguration) {
        self.command = command
        self.configuration = configuration
    }

    /// Runs until a signal ends it.
    /// - Throws: `Failure` before it serves; never returns otherwise.
    func run() throws -> Never {
        signal(SIGPIPE, SIG_IGN)
        // libdispatch gives its threads priorities, and logs each that a sandbox does not let it give. Before its first thread.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        // Until somebody listens for it: it would end the process.
        signal(SIGHUP, SIG_IGN)
        let manager = ServiceManager.fromEnvironment()
        let verbosity = LogVerbosity(command.verbose ? .debug : nil, configuration)
        LoggingSystem.bootstrap { DaemonLog(label: $0) { verbosity.level } }
        let logger = Logger(label: "discoverd")
        for warning in manager.warnings { logger.warning("\(warning)") }
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let sockets = try ControlSockets(explicit: command.socket, configuration, manager)
        let state = StateDirectory(StatePlace(command))
        if let reason = state.reason { logger.warning("nothing is kept over a restart: \(reason)") }
        let backend = chosenBackend(logger)
        let engine = try engine(backend, logger)
        let reloader = Reloader(command.place, configuration, manager, verbosity, logger)
        let daemon = Daemon(
            engine: engine,
            settings: Daemon.Settings(configuration),
            state: state,
            facts: DaemonFacts(
                version: DiscoverdVersion.current,
                pid: getpid(),
                backend: backend.rawValue,
                socket: sockets.path,
                limits: configuration.limits.connections
            ),
            metrics: metrics,
            logger: logger
        ) { await reloader.reload($0) }
        let running = RunningDaemon(
            daemon: daemon, sockets: sockets, manager: manager, watchdog: Watchdog(daemon, engine, manager, logger),
            heartbeat: Heartbeat(engine: engine, health: daemon.health),
            logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: running, successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: HangUp(daemon: daemon, reloader: reloader), successTerminationBehavior: .ignore),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        Task { await Self.serve(group, sockets, logger) }
        while true { pause() }
    }

    private static func serve(_ group: ServiceGroup, _ sockets: ControlSockets, _ logger: Logger) async -> Never {
        do {
            try await group.run()
        } catch {
            logger.error("\(error)")
            endStatus.withLock { if $0 == 0 { $0 = 1 } }
        }
        sockets.remove()
        exit(endStatus.withLock { $0 })
    }

    /// The command line is nearer than the configuration.
    private func chosenBackend(_ logger: Logger) -> BackendChoice {
        let configured = configuration.backend.flatMap { BackendChoice(rawValue: $0.rawValue) }
        guard let said = command.backend else { return configured ?? .auto }
        if let configured, configured != said {
            logger.notice("backend \(said), as the command line says; the configuration says \(configured)")
        }
        return said
    }

    private func engine(_ backend: BackendChoice, _ logger: Logger) throws -> AvahiEngine {
        let options = PrivateBackendOptions(passesOutput: command.verbose)
        do throws(DiscoveryError) {
            switch backend {
            case .system: return try AvahiEngine(backend: .system)
            case .private:
                return try AvahiEngine(backend: .private(options)) { error in
                    logger.error("\(error.message)")
                    // As a signal ends it: with its connections told, and its socket removed.
                    Self.endStatus.withLock { $0 = 69 }
                    kill(getpid(), SIGTERM)
                }
            case .auto: return try AvahiEngine(backend: .automatic(options))
            }
        } catch {
            throw Failure(status: error.code == .systemRefused ? 71 : 69, message: error.message)
        }
    }
}
