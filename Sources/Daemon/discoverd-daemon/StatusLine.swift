#if Commands
internal import DiscoveryDaemon
internal import Discovery
internal import DiscoveryControl

/// Keeps the daemon's line in `systemctl status` up to date.
struct StatusLine {
    private let daemon: Daemon
    private let manager: ServiceManager

    init(_ daemon: Daemon, _ manager: ServiceManager) {
        self.daemon = daemon
        self.manager = manager
    }

    /// Runs until the task is cancelled; returns at once if no service manager listens.
    func run() async {
        guard manager.isPresent else { return }
        var told = ""
        repeat {
            let text = await text
            if text != told { manager.status(text) }
            told = text
        } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    private var text: String {
        get async {
            let states = await daemon.registry.statuses.map(\.state)
            let established = states.count { $0 == .established }
            let published = "\(established) of \(states.count) services published"
            let reasons = daemon.health.reasons
            return reasons.isEmpty ? published : "\(published); degraded: \(reasons.joined(separator: "; "))"
        }
    }
}
#endif
