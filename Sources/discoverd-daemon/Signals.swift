#if Commands
internal import CommandFrame
internal import DiscoveryDaemon
internal import Glibc

/// What signals tell the daemon: SIGTERM and SIGINT to end, SIGHUP to read its configuration again.
struct Signals {
    private let signals = SignalSet([SIGTERM, SIGINT, SIGHUP])

    /// Keeps them until `wait` takes them. To be called before any other thread exists.
    func block() { signals.block() }

    /// Takes signals until the process ends. For the main thread.
    /// - Parameter end: called for each that ends the daemon.
    func wait(reload: @escaping @Sendable () async -> Void, end: () -> Void) -> Never {
        // One that waits is enough, however many come while the configuration is read.
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        Task { for await _ in hangUps { await reload() } }
        while true {
            guard let signal = signals.next(within: nil) else { continue }
            if signal.number == SIGHUP { hangUp.yield() } else { end() }
        }
    }
}
#endif
