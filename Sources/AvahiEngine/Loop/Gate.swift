import Discovery

/// Opens once; waiting for it ends when it opens or when time is up.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var isOver = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Locked(State())

    func open() { finish(true) }

    /// For one waiter. - Returns: whether it opened in time.
    @discardableResult
    func wait(atMost limit: Duration) async -> Bool {
        let timer = Task {
            let time = SystemTime()
            try? await time.sleep(until: time.now + limit)
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
