#if Commands
internal import AvahiEngine
internal import Discovery
internal import DiscoveryDaemon

/// Asks the backend for a sign of life, for one that hangs says nothing of it: D-Bus waits 25 s for an answer.
struct Heartbeat {
    /// From one answer to the next question.
    private static let interval = Duration.seconds(10)
    /// A busy avahi-daemon takes its time; one that is stopped, for ever.
    private static let patience = Duration.seconds(3)

    let engine: AvahiEngine
    let health: BackendHealth

    /// Runs until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let timer = Task {
                guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
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
