internal import DiscoveryDaemon
internal import ServiceLifecycle
internal import UnixSignals

/// Reads the configuration anew on SIGHUP.
struct HangUp: Service {
    let daemon: Daemon
    let reloader: Reloader

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) { _ = await reloader.reload(daemon) }
        }
    }
}
