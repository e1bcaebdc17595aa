#if Commands
internal import DiscoveryDaemon
internal import DiscoveryControl
internal import UnicastEngine

/// Reloads the configuration, one reload at a time. If the new one is wrong, the old one stays in force.
actor Reloader {
    private let place: ConfigurationPlace
    private let domains: DaemonDomains
    private let manager: ServiceManager
    private let verbosity: LogVerbosity
    private let log: DaemonLog
    /// What some keys have that are read at the start only.
    private let first: DaemonConfiguration
    private var configuration: DaemonConfiguration
    private var change: SettledChange<ConfigurationStamp>
    /// How often to look whether the configuration was changed: a change is taken over after once or twice that.
    private static let interval = Duration.seconds(2)
    private var last: Task<Result<[String], ControlError>, Never>?
    /// A reload is queued but has not begun; requests made meanwhile share its result.
    private var isWaiting = false

    init(
        _ place: ConfigurationPlace, _ stamp: ConfigurationStamp, _ configuration: DaemonConfiguration,
        _ domains: DaemonDomains,
        _ manager: ServiceManager, _ verbosity: LogVerbosity, _ log: DaemonLog
    ) {
        self.place = place
        change = SettledChange(stamp)
        self.domains = domains
        (first, self.configuration) = (configuration, configuration)
        self.manager = manager
        self.verbosity = verbosity
        self.log = log
    }

    /// - Returns: the changed keys that count after a restart only; or what is wrong with the configuration on disk.
    func reload(_ target: Daemon.Configurable) async -> Result<[String], ControlError> {
        if isWaiting, let last { return await last.value }
        let before = last
        isWaiting = true
        let task = Task {
            _ = await before?.value
            self.isWaiting = false
            return await self.readAnew(target)
        }
        last = task
        return await task.value
    }

    /// Reloads it when it was changed, or says that it would, until the task is cancelled.
    func watch(_ target: Daemon.Configurable) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            guard change.isDue(ConfigurationStamp(place)) else { continue }
            if configuration.reload == .explicit {
                log.notice("the configuration on disk was changed: 'discoverd reload' reads it")
            } else {
                _ = await reload(target)
            }
        }
    }

    /// Tells which files of packages and programs do not count.
    func tellLeftOut(_ target: Daemon.Configurable) {
        for line in configuration.doubts { log.warning("\(line)") }
        for line in configuration.leftOut.flatMap(\.lines) { log.error("a file has an error and is not read: \(line)") }
        let what = "configuration files have errors and are not read"
        let first = configuration.leftOut.first.map { "\(what): \($0.summary)" }
        target.health.note("drop-ins", first, toAll: first == nil ? nil : what)
    }

    private func readAnew(_ target: Daemon.Configurable) async -> Result<[String], ControlError> {
        manager.reloading()
        defer { manager.ready() }
        change.take(ConfigurationStamp(place))
        let new: DaemonConfiguration
        let settings: [DomainSettings]
        do {
            new = try place.load()
            settings = try DaemonDomains.settings(new)
        } catch let error as ConfigurationError {
            return refused(error.summary, ControlError(422, "bad-configuration", error.lines), target)
        } catch {
            return refused("\(error)", ControlError(422, "bad-configuration", "\(error)"), target)
        }
        let change = ConfigurationChange(from: configuration, to: new, since: first)
        configuration = new
        verbosity.configured(new)
        for sentence in domains.replaceKeys(of: settings) { log.notice(sentence) }
        await target.apply(Daemon.Settings(new))
        target.health.note("configuration", nil)
        tellLeftOut(target)
        let counts =
            "services: \(change.added.count) added, \(change.changed.count) changed, \(change.removed.count) removed, "
            + "\(change.unchanged.count) as before"
        log.notice("the configuration was read anew: \(counts)")
        if !change.needsRestart.isEmpty {
            log.warning("changed, but read at the start only: \(change.needsRestart.joined(separator: ", "))")
        }
        return .success(change.needsRestart)
    }

    private func refused(
        _ summary: String, _ error: ControlError, _ target: Daemon.Configurable
    ) -> Result<[String], ControlError> {
        for line in error.errors.isEmpty ? [error.message] : error.errors {
            log.error("the configuration is wrong, the old one stays: \(line)")
        }
        let what = "the configuration on disk is wrong, the old one is used"
        target.health.note("configuration", "\(what): \(summary)", toAll: what)
        return .failure(error)
    }
}
#endif
