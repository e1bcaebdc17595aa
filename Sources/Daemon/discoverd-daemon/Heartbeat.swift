#if Commands
internal import AvahiEngine
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoveryJSON

/// Probes the backend regularly, because a hung one does not report itself: D-Bus waits 25 s for an answer.
struct Heartbeat {
    /// The pause between an answer and the next probe.
    private static let interval = Duration.seconds(10)
    /// Enough for a busy avahi-daemon; one that is stopped never answers.
    private static let patience = Duration.seconds(3)

    let engine: AvahiEngine
    let health: BackendHealth

    /// Runs until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let timer = Task {
                // One that never answered is not missed by itself (`BackendHealth`).
                guard (try? await Task.sleep(for: Self.patience)) != nil, let state = health.state(of: .publisher),
                    state.reason == nil
                else { return }
                health.note(
                    "heartbeat", "avahi-daemon does not answer: it hangs or is stopped (systemctl restart avahi-daemon)"
                )
            }
            await engine.probe()
            timer.cancel()
            _ = await timer.value
            health.note("heartbeat", nil)
        }
    }
}
#endif
