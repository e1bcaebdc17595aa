import DiscoveryPOSIX

/// An engine's state for its watchers: the current one, then each change, in order. No lock is held while they are called, so that one
/// may cancel from within a report.
package final class StateWatchers: Sendable {
    private struct State {
        /// Nil while it is not known.
        var now: EngineState?
        var lastID: UInt64 = 0
        var watchers: [UInt64: @Sendable (EngineState) -> Void] = [:]
    }

    private let state: Locked<State>
    private let reports = ReportQueue<UInt64>()
    private let tellsReasons: Bool

    /// - Parameters:
    ///   - now: the state; nil while it is not known.
    ///   - tellsReasons: whether another reason alone is reported.
    package init(_ now: EngineState? = nil, tellsReasons: Bool = true) {
        state = Locked(State(now: now))
        self.tellsReasons = tellsReasons
    }

    /// Whether nobody watches.
    package var isEmpty: Bool { state.withLock { $0.watchers.isEmpty } }

    /// Reports a new state.
    package func became(_ new: EngineState) {
        note(new)
        tell()
    }

    /// Takes in the state, nil if it is not known any more. `tell` reports it, so a lock may be held here.
    package func note(_ new: EngineState?) {
        state.withLock { state in
            let isSame = tellsReasons ? state.now == new : state.now.map { $0 == .up } == new.map { $0 == .up }
            guard !isSame else { return }
            state.now = new
            guard let new else { return }
            // Added under the lock, which keeps the states in order.
            for (id, watcher) in state.watchers { reports.add(to: id) { watcher(new) } }
        }
    }

    /// Reports what was noted.
    package func tell() { reports.run() }

    /// Reports the state, and each change until the operation is cancelled.
    package func watch(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let id = state.withLock { state in
            state.lastID += 1
            state.watchers[state.lastID] = reporting
            if let now = state.now { reports.add(to: state.lastID) { reporting(now) } }
            return state.lastID
        }
        // A report must not come from within the call that starts the operation.
        Task { [reports] in reports.run() }
        return Ending { [weak self] in self?.forget(id) }
    }

    /// Reports nothing more to anyone who watches now.
    package func forgetAll() {
        let ids = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.keys)
        }
        for id in ids { reports.drop(id) }
    }

    private func forget(_ id: UInt64) {
        state.withLock { $0.watchers[id] = nil }
        reports.drop(id)
    }
}
