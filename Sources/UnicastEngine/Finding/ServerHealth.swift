import Discovery
import System

/// The engine's state for its watchers: whether the last question was answered. It is up while there are no queries.
final class ServerHealth: Sendable {
    private struct State {
        var now = EngineState.up
        var lastID: UInt64 = 0
        var watchers: [UInt64: @Sendable (EngineState) -> Void] = [:]
    }

    private let state = Locked(State())

    /// Reports a new state. Reporting under the lock keeps the states in order; reports return quickly.
    func became(_ new: EngineState) {
        state.withLock { state in
            // Another reason alone is not reported.
            guard (state.now == .up) != (new == .up) else { return }
            state.now = new
            for watcher in state.watchers.values { watcher(new) }
        }
    }

    func watch(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let watcher = Watcher { [weak self] in self?.state.withLock { $0.watchers[id] = nil } }
        // A report must not come from within the call that starts the operation.
        Task { [weak self] in
            self?.state.withLock { state in
                guard !watcher.hasEnded else { return }
                state.watchers[id] = reporting
                reporting(state.now)
            }
        }
        return watcher
    }

    private final class Watcher: EngineOperation {
        private let ended = Locked(false)
        private let forget: @Sendable () -> Void

        init(_ forget: @escaping @Sendable () -> Void) { self.forget = forget }

        var hasEnded: Bool { ended.withLock { $0 } }

        func cancel() {
            ended.withLock { $0 = true }
            forget()
        }

        func cancel(waitingAtMost limit: Duration) async -> Bool {
            cancel()
            return true
        }
    }
}
