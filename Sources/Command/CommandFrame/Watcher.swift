import Libc
import Synchronization

/// Watches for what ends a command from outside: a signal, or a standard output that no one reads.
///
/// Also ends the process if the command does not end in time, for example because it is stuck writing to a full pipe.
public final class Watcher: Sendable {
    private let stop: Stop
    private let watchesOutput: Bool
    private let grace: Duration
    private let statusWhenStopped: ExitStatus
    private let signals = SignalSet.ending()
    private let receiver = Mutex<(@Sendable (SignalSet.Signal) -> Void)?>(nil)

    /// - Parameters:
    ///   - stop: receives the cause when something ends the command.
    ///   - watchesOutput: the command has no purpose once no one reads standard output.
    ///   - grace: how long the command may take to end once asked to.
    ///   - statusWhenStopped: the exit status if the command does not end in time.
    public init(stop: Stop, watchesOutput: Bool, grace: Duration, statusWhenStopped: ExitStatus) {
        self.stop = stop
        self.watchesOutput = watchesOutput
        self.grace = grace
        self.statusWhenStopped = statusWhenStopped
    }

    /// Blocks the signals and starts a thread that watches standard output. Call it before any other thread exists.
    /// - Throws: `.systemError` where no thread can be started.
    public func start() throws(CommandError) {
        signal(SIGPIPE, SIG_IGN)
        signals.block()
        if watchesOutput { try BlockingThread.start { self.waitForReader() } }
    }

    /// From now on, sends signals to `receiver` instead of ending the command.
    public func forwardSignals(to receiver: @escaping @Sendable (SignalSet.Signal) -> Void) {
        self.receiver.withLock { $0 = receiver }
    }

    /// Handles signals until the process ends. Call it on the main thread, and not from an asynchronous `main`: there `dispatch_main`
    /// suspends the thread with all signals unblocked, and their default action ends the process.
    public func waitForSignals() -> Never {
        var end: ContinuousClock.Instant?
        while let signal = signals.next(within: end.map { max(.zero, $0 - .now) }) {
            if let receiver = receiver.withLock({ $0 }) {
                receiver(signal)
                continue
            }
            if end != nil {
                // A terminal that goes away sends SIGHUP twice: the system's, and the shell's to its jobs.
                if signal.number == SIGHUP { continue }
                // A second Ctrl-C means that the user is impatient.
                break
            }
            end = .now + grace
            stop.request(.signal(signal.number))
        }
        ProcessEnd.now(statusWhenStopped)
    }

    private func waitForReader() {
        // Polling for no events still reports POLLERR (a pipe's reader is gone) and POLLHUP (a terminal is gone).
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        while unsafe poll(&output, 1, -1) < 1 {}
        stop.request(.unread)
        usleep(UInt32(grace.milliseconds) * 1000)
        ProcessEnd.now(.done)
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    package var milliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
