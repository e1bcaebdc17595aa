#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import HostEngine
internal import Labels
internal import Libc

/// The daemon as a process: assembles its parts, and ends it.
struct DaemonProcess {
    /// The exit status of the process.
    static let endStatus = Locked<Int32>(0)

    let command: DaemonCommand
    /// Of the configuration.
    let stamp: ConfigurationStamp
    let configuration: DaemonConfiguration

    /// Runs until a signal ends the process.
    /// - Throws: `Failure` if it cannot begin to serve; otherwise never returns.
    func run() throws -> Never {
        signal(SIGPIPE, SIG_IGN)
        // libdispatch logs every thread priority that a sandbox forbids. Must precede its first thread.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        let signals = Signals()
        signals.block()
        let manager = ServiceManager.fromEnvironment()
        let verbosity = LogVerbosity(command.verbose ? .debug : nil, configuration)
        let log = DaemonLog(least: { verbosity.level })
        for warning in manager.warnings { log.warning(warning) }
        let sockets = try ControlSockets(explicit: command.socket, configuration, manager)
        let running: RunningDaemon
        do {
            running = try assembled(sockets, manager, verbosity, log)
        } catch {
            // Nobody will answer there.
            sockets.remove()
            throw error
        }
        let task = Task { await Self.serve(running, sockets, log) }
        signals.wait {
            _ = await running.reloader.reload(running.daemon.configurable)
        } end: {
            task.cancel()
        }
    }

    /// The daemon with all of its parts, which do nothing yet.
    /// - Throws: `Failure` if one of them cannot be.
    private func assembled(
        _ sockets: ControlSockets, _ manager: ServiceManager, _ verbosity: LogVerbosity, _ log: DaemonLog
    ) throws -> RunningDaemon {
        let state = StateDirectory(StatePlace(command))
        if let refusal = state.path.flatMap({ RegistryFile(directory: $0).refusal }) {
            throw Failure(status: 78, message: refusal)
        }
        if let reason = state.reason { log.warning("nothing is kept over a restart: \(reason)") }
        let avahi = chosen("avahi", command.publishing.given, configuration.avahi, log) ?? .auto
        let domains = try DaemonDomains(configuration, state)
        let host = try hostEngine(avahi, log)
        var facts = DaemonFacts(
            version: DiscoverdVersion.current,
            pid: getpid(),
            backend: avahi.backend.rawValue,
            finder: host.finder.rawValue,
            socket: sockets.path,
            limits: configuration.limits.withinDescriptors
        )
        facts.domains = { domains.states }
        facts.publishing = { host.publishing }
        facts.machineName = { host.machineName }
        let gateways = Locked<[Gateway]>([])
        facts.exports = {
            var states: [GatewayStatus] = []
            for gateway in gateways.withLock({ $0 }) { states.append(await gateway.status) }
            return states
        }
        let sites = try OtherSites(configuration, state, log)
        facts.key = sites.map { "\($0.key)" }
        let labels = Labels(configuration.labels, configuration.access.labels, log)
        facts.labels = { labels?.statuses ?? [] }
        let shownNames = Locked<@Sendable () -> NamesStatus>({ NamesStatus() })
        facts.names = { shownNames.withLock { $0 }() }
        let reloader = Reloader(command.place, stamp, configuration, domains, manager, verbosity, log)
        let daemon = Daemon(
            engine: domains.engine(with: host),
            finder: host.linkFinder,
            publisher: host.publisher,
            settings: Daemon.Settings(configuration),
            state: state,
            facts: facts,
            log: log
        ) { await reloader.reload($0) }
        let teller = sites?.teller(configuration.mirrorListen, of: daemon.network)
        gateways.withLock { all in
            all = domains.gateways(configuration.exports, of: daemon.network, log)
            all += LinkMirror.gateways(configuration.mirrors, of: daemon.network, sites, log)
            if let teller { all.append(teller.gateway) }
        }
        let (names, namesStatus) = NameSockets(configuration, manager).names(from: host, daemon.registry, log)
        shownNames.withLock { $0 = namesStatus }
        return RunningDaemon(
            daemon: daemon, gateways: gateways.withLock { $0 }, teller: teller, sockets: sockets, manager: manager,
            watchdog: Watchdog(daemon: daemon, engine: host.avahi, manager: manager, log: log),
            backend: BackendProbe(engine: host.avahi, health: daemon.health),
            reloader: reloader, domains: domains, names: names, labels: labels, log: log)
    }

    private static func serve(_ running: RunningDaemon, _ sockets: ControlSockets, _ log: DaemonLog) async -> Never {
        do {
            try await running.run()
        } catch is CancellationError {
            // The daemon was asked to end before it served.
        } catch {
            log.error("\(error)")
            endStatus.withLock { if $0 == 0 { $0 = 1 } }
        }
        sockets.remove()
        exit(endStatus.withLock { $0 })
    }

    /// The command line takes precedence over the configuration.
    private func chosen<Choice: RawRepresentable<String>>(
        _ what: String, _ said: Choice?, _ configured: Choice?, _ log: DaemonLog
    ) -> Choice? {
        guard let said else { return configured }
        if let configured, configured.rawValue != said.rawValue {
            log.notice(
                "\(what) \(said.rawValue), as the command line says; the configuration says \(configured.rawValue)")
        }
        return said
    }

    private func hostEngine(_ avahi: AvahiUse, _ log: DaemonLog) throws -> HostEngine {
        if let hint = command.publishing.hint { log.notice(hint) }
        let finder = chosen("finder", command.finder, configuration.finder, log)
        do throws(DiscoveryError) {
            return try HostEngine(finder ?? .auto, avahi: avahi)
        } catch {
            throw Failure(status: error.code == .systemRefused ? 71 : 69, message: error.message)
        }
    }
}

/// The daemon's signals: SIGTERM and SIGINT end it, SIGHUP reloads its configuration.
struct Signals {
    private let signals = SignalSet([SIGTERM, SIGINT, SIGHUP])

    /// Holds the signals back until `wait` takes them. Call it before any other thread exists.
    func block() { signals.block() }

    /// Waits, or until a signal.
    func pause(_ time: Duration) { _ = signals.next(within: time) }

    /// Handles signals until the process ends. Call it on the main thread.
    /// - Parameter end: called for each signal that ends the daemon.
    func wait(reload: @escaping @Sendable () async -> Void, end: () -> Void) -> Never {
        // One pending reload is enough, however many SIGHUPs arrive during a reload.
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        Task { for await _ in hangUps { await reload() } }
        while true {
            guard let signal = signals.next(within: nil) else { continue }
            if signal.number == SIGHUP { hangUp.yield() } else { end() }
        }
    }
}
#endif
