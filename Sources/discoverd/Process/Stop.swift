internal import Synchronization

/// The end of a running command: the first cause wins, and cancels the command's task.
final class Stop: Sendable {
    /// Why a command ends before it is done.
    enum Cause: Hashable, Sendable {
        /// Ctrl-C, SIGTERM or a hang-up.
        case signal(Int32)
        /// Nobody reads standard output any more.
        case unread
        /// `--timeout` is over.
        case timedOut
        /// No backend answered.
        case noBackend
        /// There will be no backend any more, for this reason.
        case backendEnded(String)
        /// The program after `--` ended.
        case programEnded(ExitStatus)
    }

    private struct State {
        var cause: Cause?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Why the command is to end; nil while it is not.
    var cause: Cause? { state.withLock { $0.cause } }

    /// Ends the command.
    func request(_ cause: Cause) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard state.cause == nil else { return nil }
            state.cause = cause
            return state.cancel
        }
        cancel?()
    }

    /// Ends the command later. The timer is the process's: it needs no owner, for it ends with the process at the latest.
    @discardableResult
    func request(_ cause: Cause, after delay: Duration) -> Task<Void, Never> {
        Task {
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            self.request(cause)
        }
    }

    /// Has `cancel` called when the command is to end, at once if it already is.
    func onRequest(_ cancel: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.cancel = cancel
            return state.cause != nil
        }
        if isRequested { cancel() }
    }
}
