import Discovery
import DiscoverySystem

/// The engine's state for its watchers: whether the last question was answered. It is up while there are no queries.
final class ServerHealth: Sendable {
    private struct State {
        var now = EngineState.up
        var lastID: UInt64 = 0
        var watchers: [UInt64: @Sendable (EngineState) -> Void] = [:]
    }

    private let state = Locked(State())
    private let reports = ReportQueue<UInt64>()

    /// Reports a new state.
    func became(_ new: EngineState) {
        state.withLock { state in
            // Another reason alone is not reported.
            guard (state.now == .up) != (new == .up) else { return }
            state.now = new
            // Added under the lock, which keeps the states in order.
            for (id, watcher) in state.watchers { reports.add(to: id) { watcher(new) } }
        }
        reports.run()
    }

    func watch(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let id = state.withLock { state in
            state.lastID += 1
            state.watchers[state.lastID] = reporting
            let now = state.now
            reports.add(to: state.lastID) { reporting(now) }
            return state.lastID
        }
        // A report must not come from within the call that starts the operation.
        Task { [reports] in reports.run() }
        return Watcher { [weak self] in self?.forget(id) }
    }

    private func forget(_ id: UInt64) {
        state.withLock { $0.watchers[id] = nil }
        reports.drop(id)
    }

    private final class Watcher: EngineOperation {
        private let forget: @Sendable () -> Void

        init(_ forget: @escaping @Sendable () -> Void) { self.forget = forget }

        func cancel() { forget() }

        func cancel(waitingAtMost limit: Duration) async -> Bool {
            cancel()
            return true
        }
    }
}
