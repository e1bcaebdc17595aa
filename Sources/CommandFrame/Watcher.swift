import Glibc
import Synchronization

/// Waits for what ends a command from outside: a signal, or a standard output that nobody reads.
///
/// It also ends the process when the command does not end by itself in time, for example because it is stuck writing to a pipe that
/// nobody empties.
public final class Watcher: Sendable {
    private let stop: Stop
    private let watchesOutput: Bool
    private let grace: Duration
    private let statusWhenStopped: ExitStatus
    private let signals = SignalSet.ending()
    private let receiver = Mutex<(@Sendable (SignalSet.Signal) -> Void)?>(nil)

    /// - Parameters:
    ///   - stop: told of what ends the command.
    ///   - watchesOutput: whether there is nothing left to do once nobody reads standard output.
    ///   - grace: how long the command may take to end once it was asked to.
    ///   - statusWhenStopped: of a command that did not end in time.
    public init(stop: Stop, watchesOutput: Bool, grace: Duration, statusWhenStopped: ExitStatus) {
        self.stop = stop
        self.watchesOutput = watchesOutput
        self.grace = grace
        self.statusWhenStopped = statusWhenStopped
    }

    /// Blocks the signals, to be called before any other thread exists, and watches standard output on a thread.
    public func start() throws(CommandError) {
        signal(SIGPIPE, SIG_IGN)
        signals.block()
        if watchesOutput { try BlockingThread.start { self.waitForReader() } }
    }

    /// From now on signals go to `receiver` instead of ending the command.
    public func forwardSignals(to receiver: @escaping @Sendable (SignalSet.Signal) -> Void) {
        self.receiver.withLock { $0 = receiver }
    }

    /// Takes signals until the process ends. For the main thread, which must not be given to Dispatch as an asynchronous `main`
    /// gives it: there `dispatch_main` suspends it with every signal unblocked, and their default action ends the process.
    public func waitForSignals() -> Never {
        var isEnding = false
        while let signal = signals.next(within: isEnding ? grace : nil) {
            if let receiver = receiver.withLock({ $0 }) {
                receiver(signal)
                continue
            }
            // The second Ctrl-C of an impatient person.
            if isEnding { break }
            isEnding = true
            stop.request(.signal(signal.number))
        }
        ProcessEnd.now(statusWhenStopped)
    }

    private func waitForReader() {
        // A poll for no event still tells of POLLERR (the reader of a pipe is gone) and POLLHUP (a terminal is).
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        while unsafe poll(&output, 1, -1) < 1 {}
        stop.request(.unread)
        usleep(UInt32(grace.milliseconds) * 1000)
        ProcessEnd.now(.done)
    }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
