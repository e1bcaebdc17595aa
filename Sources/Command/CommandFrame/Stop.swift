import Synchronization

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

    /// Calls `cancel` when the command must end; at once if it already must.
    public func onRequest(_ cancel: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.cancel = cancel
            return state.cause != nil
        }
        if isRequested { cancel() }
    }
}
