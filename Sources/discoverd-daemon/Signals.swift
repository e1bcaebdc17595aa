#if Commands
internal import CommandFrame
internal import DiscoveryDaemon
internal import Libc

/// The daemon's signals: SIGTERM and SIGINT end it, SIGHUP reloads its configuration.
struct Signals {
    private let signals = SignalSet([SIGTERM, SIGINT, SIGHUP])

    /// Holds the signals back until `wait` takes them. Call it before any other thread exists.
    func block() { signals.block() }

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
