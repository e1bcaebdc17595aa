#if Commands
internal import DiscoverySystem

/// Places for so many at a time; who comes later waits, in turn.
final class Places: Sendable {
    private struct State {
        var free: Int
        var next: UInt64 = 0
        /// Oldest first.
        var waiting: [(id: UInt64, waiter: CheckedContinuation<Bool, Never>)] = []
    }

    private let state: Locked<State>

    init(_ count: Int) { state = Locked(State(free: count)) }

    /// Waits for a place, which `give()` gives back.
    /// - Returns: false where the task was cancelled instead.
    func take() async -> Bool {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).waiter }
            }
            waiter?.resume(returning: false)
        }
    }

    func give() {
        let waiter = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().waiter
        }
        waiter?.resume(returning: true)
    }
}
#endif
