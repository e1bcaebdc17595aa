#if Commands
internal import AvahiEngine
internal import DaemonSupport
internal import Discovery
internal import DiscoveryDaemon
internal import System

/// Tells the service manager that the daemon works, as long as it does: its event loop turns, its tasks run, and the
/// backend's thread comes back from D-Bus.
struct Watchdog {
    /// libdbus waits 25 s for an answer, and two calls may follow each other: a thread that was away for longer is stuck.
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

    /// Runs until the task is cancelled; at once when nobody watches.
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
                    // When the event loop is stuck, nothing is told from here on.
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
