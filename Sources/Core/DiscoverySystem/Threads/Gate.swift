/// Opens once. Waiting ends when it opens or time is up.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var isOver = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Locked(State())

    package init() {}

    package func open() { finish(true) }

    /// For one waiter at a time. Returns whether the gate opened in time.
    @discardableResult
    package func wait(atMost limit: Duration) async -> Bool {
        let timer = Task {
            // The clock traps beyond 2⁶³ s.
            try? await Task.sleep(for: min(limit, Duration.seconds(1 << 32)), clock: .suspending)
            finish(false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.isOpen { return true }
                if state.isOver { return false }
                state.waiter = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func finish(_ opened: Bool) {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if opened { state.isOpen = true } else { state.isOver = true }
            return waiter
        }
        waiter?.resume(returning: opened)
    }
}
