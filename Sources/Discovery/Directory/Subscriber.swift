package import DNSSD
import DiscoveryPOSIX

/// One iterator's state: coalesces changes and hands them out one at a time.
package final class Subscriber<Value: Listed>: Listener {
    private enum End { case cancelled, shutDown }

    private struct State {
        var pending: PendingChanges<Value>
        /// Whether changes came since the last look, or the last look left some.
        var hasNews = false
        /// At most one, unless an iterator is copied.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var end: End?
    }

    private let state: Locked<State>
    private let time: any TimeSource
    private let alarmClock: AlarmClock

    package init(time: any TimeSource, alarmClock: AlarmClock, limits: DiscoveryLimits, repeatsSettled: Bool = false) {
        self.time = time
        self.alarmClock = alarmClock
        state = Locked(State(pending: PendingChanges(interval: limits.changeInterval, repeatsSettled: repeatsSettled)))
    }

    package func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp? {
        state.withLock { state in
            for change in changes { state.pending.apply(change, now: now) }
            state.hasNews = true
            return Self.wake(&state)
        }
    }

    package func shutDown() -> FollowUp? { end(.shutDown) }

    /// Returns up to `limit` changes that are ready, without waiting.
    package func takePending(atMost limit: Int) -> [Change<Value>] {
        state.withLock { Self.take(&$0, atMost: limit, now: time.now) }
    }

    /// Waits until changes are ready and returns up to `limit` of them. Called by one task at a time.
    /// - Returns: nil if the task is cancelled; an empty list if `deadline` passes.
    /// - Throws: `.closed` if the engine was shut down and all earlier changes have been returned.
    package func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<
        Value
    >]? {
        // The alarm belongs to this call: the rate limit and the deadline concern no one else.
        var alarm: Alarm?
        while true {
            if Task.isCancelled { _ = end(.cancelled) }
            let now = time.now
            let (changes, next, end) = state.withLock { state in
                let changes = state.end == .cancelled ? [] : Self.take(&state, atMost: limit, now: now)
                return (changes, state.pending.nextDeadline, state.end)
            }
            if !changes.isEmpty { return changes }
            switch end {
            case .cancelled: return nil
            case .shutDown: throw DiscoveryError(.closed, "the engine was shut down")
            case nil: break
            }
            if let deadline, deadline <= now { return [] }
            let wakeAt = [deadline, next].compactMap(\.self).min()
            if let wakeAt {
                alarm = alarm ?? alarmClock.make { [weak self] _ in self?.wake() }
                alarm?.set(to: wakeAt)
            }
            await wait(until: wakeAt)
        }
    }

    private func wait(until deadline: Duration?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // News may have come since the check above.
                    let isDue = deadline.map { $0 <= time.now } ?? false
                    guard state.end == nil, !state.hasNews, !isDue else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            end(.cancelled)?()
        }
    }

    private func wake() { state.withLock { Self.wake(&$0) }?() }

    private func end(_ reason: End) -> FollowUp? {
        state.withLock { state in
            state.end = state.end ?? reason
            return Self.wake(&state)
        }
    }

    private static func wake(_ state: inout State) -> FollowUp? {
        guard !state.waiters.isEmpty else { return nil }
        let waiters = state.waiters
        state.waiters = []
        return { for waiter in waiters { waiter.resume() } }
    }

    private static func take(_ state: inout State, atMost limit: Int, now: Duration) -> [Change<Value>] {
        var changes: [Change<Value>] = []
        while changes.count < limit, let change = state.pending.next(now: now) { changes.append(change) }
        state.hasNews = changes.count == limit
        return changes
    }
}
