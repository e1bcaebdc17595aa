internal import AvahiEngine
internal import CoreMetrics
internal import DNSSD
internal import DaemonSupport
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import Glibc
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The daemon as a process: its directories, its sockets, the service manager, signals.
struct DaemonProcess {
    private let command: DaemonCommand
    private let configuration: DaemonConfiguration

    init(_ command: DaemonCommand, _ configuration: DaemonConfiguration) {
        self.command = command
        self.configuration = configuration
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let manager = ServiceManager.fromEnvironment()
        let level = command.verbose ? Logger.Level.debug : configuration.logLevel?.level ?? .info
        LoggingSystem.bootstrap { DaemonLog(label: $0, level: level) }
        let logger = Logger(label: "discoverd")
        for warning in manager.warnings { logger.warning("\(warning)") }
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let runtime = try runtimeDirectory()
        let listeners = try listeners(runtime, manager, logger)
        let facts = DaemonFacts(
            version: "0.1.0-dev",
            pid: getpid(),
            backend: command.backend ?? configuration.backend?.rawValue ?? "auto",
            socket: runtime.socketPath,
            limits: configuration.limits.connections
        )
        let directory = command.config
        let daemon = Daemon(
            engine: try AvahiEngine(),
            settings: Daemon.Settings(configuration),
            stateDirectory: command.state ?? Self.environment("STATE_DIRECTORY"),
            facts: facts,
            metrics: metrics,
            logger: logger
        ) { await Self.reload($0, directory, manager, logger) }
        let running = Running(daemon: daemon, listeners: listeners, runtime: runtime, manager: manager, logger: logger)
        let hangUp = HangUp(daemon: daemon, directory: directory, manager: manager, logger: logger)
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: running, successTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: hangUp, successTerminationBehavior: .ignore),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Duration.milliseconds(1950)
        let services = ServiceGroup(configuration: group)
        Task {
            do {
                try await services.run()
                runtime.removeSocket()
                exit(0)
            } catch {
                logger.error("\(error)")
                runtime.removeSocket()
                exit(1)
            }
        }
        dispatchForever()
    }

    /// The main thread has nothing to do, and must not end.
    private func dispatchForever() -> Never { while true { pause() } }

    private func runtimeDirectory() throws -> RuntimeDirectory {
        do throws(RuntimeDirectory.Failure) {
            return try RuntimeDirectory(socketPath: try socketPath())
        } catch {
            switch error {
            case .alreadyRunning(let pid):
                throw Failure(status: 1, message: "already running\(pid.map { " (pid \($0))" } ?? "")")
            case .unusable(let reason): throw Failure(status: 1, message: reason)
            }
        }
    }

    private func socketPath() throws(RuntimeDirectory.Failure) -> String {
        do throws(DiscoveryError) {
            return try ControlSocketPath.forDaemon(explicit: command.socket)
        } catch {
            throw .unusable(error.message)
        }
    }

    private func listeners(
        _ runtime: RuntimeDirectory,
        _ manager: ServiceManager,
        _ logger: Logger
    ) throws -> [ControlServer.Listener] {
        var listeners = manager.inheritedSockets.map { socket in
            if case .unix = socket.address {
                return ControlServer.Listener(descriptor: socket.descriptor, isReadOnly: false)
            }
            return ControlServer.Listener(descriptor: socket.descriptor, isReadOnly: true)
        }
        if !listeners.contains(where: { !$0.isReadOnly }) {
            do throws(RuntimeDirectory.Failure) {
                listeners.append(ControlServer.Listener(descriptor: try runtime.listen(), isReadOnly: false))
            } catch {
                throw Failure(status: 1, message: "cannot make the control socket: \(error)")
            }
        }
        if let tcp = configuration.tcpListen {
            do throws(SystemError) {
                let descriptor = try TCPSocket.listen(on: tcp.address, tcp.port)
                listeners.append(ControlServer.Listener(descriptor: descriptor, isReadOnly: true, hosts: tcp.hosts))
            } catch {
                throw Failure(status: 1, message: "cannot listen on \(tcp.address) port \(tcp.port): \(error)")
            }
        }
        return listeners
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else { return nil }
        return value.split(separator: ":").first.map(String.init)
    }

    /// Reads the configuration anew; when it is wrong, the old one stays.
    static func reload(
        _ daemon: Daemon,
        _ directory: String,
        _ manager: ServiceManager,
        _ logger: Logger
    ) async -> ControlError? {
        manager.reloading()
        defer { manager.ready() }
        do throws(ConfigurationError) {
            let configuration = try DaemonConfiguration.load(directory: directory)
            await daemon.apply(Daemon.Settings(configuration))
            logger.notice("the configuration was read anew")
            manager.status("Serving")
            daemon.health.note("configuration", nil)
            return nil
        } catch {
            logger.error("the configuration is wrong, the old one stays: \(error)")
            manager.status("The configuration is wrong, the old one stays: \(error)")
            daemon.health.note("configuration", "the configuration on disk is wrong: \(error)")
            return ControlError(422, "bad-configuration", "\(error)")
        }
    }
}

/// The daemon as a service of swift-service-lifecycle.
private struct Running: ServiceLifecycle.Service {
    let daemon: Daemon
    let listeners: [ControlServer.Listener]
    let runtime: RuntimeDirectory
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        let watchdog = Task {
            guard let interval = manager.watchdogInterval else { return }
            while (try? await Task.sleep(for: interval)) != nil { manager.keepAlive() }
        }
        let guardian = Task { await watchSocket() }
        try await cancelWhenGracefulShutdown {
            try await daemon.run(listeners) {
                logger.notice("serving \(runtime.socketPath)")
                // What is known of the backend first, but a missing one must not delay the start.
                let known = Task { await daemon.health.known() }
                let timer = Task { try? await Task.sleep(for: .seconds(1)) }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await known.value }
                    group.addTask { await timer.value }
                    await group.next()
                    daemon.health.stopWaiting()
                    timer.cancel()
                }
                manager.ready()
                manager.status("Serving")
            }
        }
        manager.stopping()
        watchdog.cancel()
        guardian.cancel()
    }

    /// Ends when somebody removed the socket: nobody could reach us, and whoever supervises us starts us anew.
    private func watchSocket() async {
        while (try? await Task.sleep(for: .seconds(2))) != nil {
            guard !runtime.hasSocket else { continue }
            logger.error("the control socket is gone: ending, to be started anew")
            daemon.server.stop()
            return
        }
    }
}

/// Reads the configuration anew on SIGHUP.
private struct HangUp: ServiceLifecycle.Service {
    let daemon: Daemon
    let directory: String
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                _ = await DaemonProcess.reload(daemon, directory, manager, logger)
            }
        }
    }
}

extension DaemonConfiguration.LogLevel {
    fileprivate var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

extension ControlLimits {
    /// As many connections as there are descriptors for: the rest is for the backend, files, and checks.
    fileprivate var connections: ConnectionTable.Limits {
        var limits = ConnectionTable.Limits()
        var files = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        let room = max(4, Int(clamping: files.rlim_cur) - 24)
        limits.clients = min(clients, room)
        limits.perUser = min(clientsPerUser, limits.clients)
        limits.forRoot = max(limits.clients * 3 / 4, 1)
        limits.requestBytes = requestBytes
        limits.watchBytes = watchQueueBytes
        return limits
    }
}
