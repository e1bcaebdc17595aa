import Synchronization

/// The end of a running command: the first cause wins, and cancels the command's task.
public final class Stop: Sendable {
    /// Why a command ends before it is done.
    public enum Cause: Hashable, Sendable {
        /// Ctrl-C, SIGTERM or a hang-up.
        case signal(Int32)
        /// Nobody reads standard output any more.
        case unread
        /// `--timeout` is over.
        case timedOut
        /// No backend answered.
        case noBackend
        /// Something that the command needs failed, whatever the command makes of that.
        case failed(CommandError)
        /// The program after `--` ended.
        case programEnded(ExitStatus)
    }

    private struct State {
        var cause: Cause?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Nothing is asked to end yet.
    public init() {}

    /// Why the command is to end; nil while it is not.
    public var cause: Cause? { state.withLock { $0.cause } }

    /// Whether the command is to end.
    public var isRequested: Bool { cause != nil }

    /// What failed, if that is why.
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

    /// Ends the command later. The timer is the process's: it needs no owner, for it ends with the process at the latest.
    @discardableResult
    public func request(_ cause: Cause, after delay: Duration) -> Task<Void, Never> {
        Task {
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            self.request(cause)
        }
    }

    /// Has `cancel` called when the command is to end, at once if it already is.
    public func onRequest(_ cancel: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.cancel = cancel
            return state.cause != nil
        }
        if isRequested { cancel() }
    }
}
