#if Commands
internal import AvahiEngine
internal import DiscoveryDaemon
internal import Discovery
internal import DiscoverySystem

/// Reports to the service manager that the daemon works: its event loop turns, its tasks run, and the backend's thread returns from D-Bus.
struct Watchdog {
    /// libdbus waits 25 s for an answer, and two calls may follow each other: a thread that is away longer than this is stuck.
    private static let backendPatience = Duration.seconds(90)

    private let daemon: Daemon
    private let engine: AvahiEngine
    private let manager: ServiceManager
    private let log: DaemonLog

    init(_ daemon: Daemon, _ engine: AvahiEngine, _ manager: ServiceManager, _ log: DaemonLog) {
        self.daemon = daemon
        self.engine = engine
        self.manager = manager
        self.log = log
    }

    /// Runs until the task is cancelled; returns at once if the watchdog is off.
    func run() async {
        guard let interval = manager.watchdogInterval else { return }
        let answered = Locked(ContinuousClock.now)
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    _ = await engine.openObjects
                    answered.withLock { $0 = .now }
                    try? await Task.sleep(for: interval)
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    // If the event loop is stuck, this never returns and nothing more is reported.
                    await daemon.server.turn()
                    if answered.withLock({ $0 }).duration(to: .now) < Self.backendPatience {
                        manager.keepAlive()
                    } else {
                        log.error("the backend's thread does not answer: the watchdog is told nothing")
                    }
                    try? await Task.sleep(for: interval)
                }
            }
        }
    }
}
#endif
