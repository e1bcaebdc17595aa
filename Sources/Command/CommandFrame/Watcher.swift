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
        (self.stop, self.watchesOutput) = (stop, watchesOutput)
        (self.grace, self.statusWhenStopped) = (grace, statusWhenStopped)
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

/// A request to end the running command. The first cause wins, and cancels the command's task.
public final class Stop: Sendable {
    /// Why a command ends before it is done.
    public enum Cause: Hashable, Sendable {
        /// Ctrl-C, SIGTERM or SIGHUP.
        case signal(Int32)
        /// No one reads standard output any more.
        case unread
        /// `--timeout` has expired.
        case timedOut
        /// No backend answered.
        case noBackend
        /// Something that the command needs has failed, even if the command itself can go on.
        case failed(CommandError)
        /// The program after `--` ended.
        case programEnded(ExitStatus)
    }

    private struct State {
        var cause: Cause?
        var cancel: (@Sendable () -> Void)?
        var left: [any Sendable] = []
    }

    private let state = Mutex(State())

    /// Creates a stop that has not been requested.
    public init() {}

    /// Why the command must end; nil while it may go on.
    public var cause: Cause? { state.withLock { $0.cause } }

    /// Whether the command must end.
    public var isRequested: Bool { cause != nil }

    /// The failure, if that is the cause.
    public var failure: CommandError? {
        if case .failed(let error) = cause { error } else { nil }
    }

    /// Ends the command.
    public func request(_ cause: Cause) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard state.cause == nil else { return nil }
            state.cause = cause
            return state.cancel
        }
        cancel?()
    }

    /// Ends the command later. The timer needs no owner: it ends with the process at the latest.
    @discardableResult
    public func request(_ cause: Cause, after delay: Duration) -> Task<Void, Never> {
        Task {
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            self.request(cause)
        }
    }

    /// Leaves something as it is until the process ends, which frees it: a command that is done takes nothing apart.
    package func leave(_ something: some Sendable) { state.withLock { $0.left.append(something) } }

    /// Calls `cancel` when the command must end; at once if it already must.
    public func onRequest(_ cancel: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.cancel = cancel
            return state.cause != nil
        }
        if isRequested { cancel() }
    }
}

/// Signals that end a command. They are blocked in every thread, and one thread waits for them.
public struct SignalSet: Sendable {
    /// A received signal.
    public struct Signal: Sendable {
        /// The signal's number.
        public let number: Int32
        /// The terminal sent it to the whole process group, so a child has received it too.
        public let isFromTerminal: Bool
    }

    private var set = sigset_t()

    /// SIGTERM, and SIGINT and SIGHUP unless the parent ignores them (`nohup`, background jobs of scripts): once blocked, even an ignored
    /// signal would be delivered.
    public static func ending() -> SignalSet {
        SignalSet([SIGTERM, SIGINT, SIGHUP].filter { $0 == SIGTERM || !isIgnored($0) })
    }

    /// Exactly these signals, even those that the parent ignores: the system queues a blocked signal all the same.
    public init(_ numbers: [Int32]) {
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
    }

    /// Blocks the signals in this thread and in all threads it starts.
    public func block() {
        var set = set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the thread until a signal arrives.
    /// - Returns: nil if none arrives within `limit`.
    public func next(within limit: Duration?) -> Signal? {
        var set = set
        var info = unsafe siginfo_t()
        while true {
            var time = timespec()
            if let limit {
                time = timespec(
                    tv_sec: Int(limit.components.seconds), tv_nsec: Int(limit.milliseconds % 1000) * 1_000_000)
            }
            let number = limit == nil ? unsafe sigwaitinfo(&set, &info) : unsafe sigtimedwait(&set, &info, &time)
            // SI_KERNEL, 0x80 in <asm-generic/siginfo.h>: the terminal's driver sent it.
            if number > 0 { return unsafe Signal(number: number, isFromTerminal: info.si_code == 0x80) }
            if errno == EAGAIN { return nil }
        }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // SIG_IGN, ((__sighandler_t) 1) in <bits/signum-generic.h>, is not imported.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
