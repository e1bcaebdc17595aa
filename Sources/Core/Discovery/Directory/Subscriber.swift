package import DNSSD
import DiscoveryPOSIX

/// One iterator's state: its log of changes, and how far it has read.
package final class Subscriber<Value: Listed>: Listener {
    private enum End { case cancelled, shutDown }

    private struct State {
        /// Short: an iterator knows what it has seen, and needs no ends of it.
        var log = ChangeLog<Value>(endLimit: 64)
        var reader: LogFollower<Value>
        /// Whether changes came since the last look, or the last look left some.
        var hasNews = false
        /// At most one, unless an iterator is copied.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var end: End?
    }

    private let state: Locked<State>
    private let time: any TimeSource
    private let alarmClock: AlarmClock

    package init(time: any TimeSource, alarmClock: AlarmClock, repeatsSettled: Bool = false) {
        self.time = time
        self.alarmClock = alarmClock
        state = Locked(State(reader: LogFollower(repeatsSettled: repeatsSettled)))
    }

    package func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp? {
        state.withLock { state in
            for change in changes { state.log.apply(change) }
            state.hasNews = true
            return Self.wake(&state)
        }
    }

    package func shutDown() -> FollowUp? { end(.shutDown) }

    /// Returns up to `limit` changes that are ready, without waiting.
    package func takePending(atMost limit: Int) -> [Change<Value>] {
        state.withLock { Self.take(&$0, atMost: limit) }
    }

    /// Waits until changes are ready and returns up to `limit` of them. Called by one task at a time.
    /// - Returns: nil if the task is cancelled; an empty list if `deadline` passes.
    /// - Throws: `.closed` if the engine was shut down and all earlier changes have been returned.
    package func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<
        Value
    >]? {
        // The alarm belongs to this call: the deadline concerns no one else.
        var alarm: Alarm?
        while true {
            if Task.isCancelled { _ = end(.cancelled) }
            let (changes, end) = state.withLock { state in
                (state.end == .cancelled ? [] : Self.take(&state, atMost: limit), state.end)
            }
            if !changes.isEmpty { return changes }
            switch end {
            case .cancelled: return nil
            case .shutDown: throw DiscoveryError(.closed, "the engine was shut down")
            case nil: break
            }
            if let deadline {
                if deadline <= time.now { return [] }
                alarm = alarm ?? alarmClock.make { [weak self] _ in self?.wake() }
                alarm?.set(to: deadline)
            }
            await wait(until: deadline)
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

    private static func take(_ state: inout State, atMost limit: Int) -> [Change<Value>] {
        let changes = state.reader.take(from: state.log, atMost: limit)
        state.hasNews = changes.count == limit
        return changes
    }
}

/// Ties an iterator's subscriber to its memberships, which end with it.
final class Subscription<Value: Listed>: Sendable {
    let subscriber: Subscriber<Value>
    private let tick: @Sendable () -> Void
    private let leave: @Sendable () -> Void

    init(
        _ subscriber: Subscriber<Value>,
        tick: @escaping @Sendable () -> Void,
        leave: @escaping @Sendable () -> Void
    ) {
        (self.subscriber, self.tick, self.leave) = (subscriber, tick, leave)
    }

    deinit { leave() }

    /// Leaves the query; may be called more than once.
    func end() { leave() }

    /// Returns what `Subscriber.next` does, and leaves the query if the task is cancelled.
    func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<Value>]? {
        let changes = try await subscriber.next(atMost: limit, until: deadline)
        if changes == nil { leave() }
        return changes
    }

    /// Returns the changes that are ready, even if the alarm has not fired yet.
    func takePending(atMost limit: Int) -> [Change<Value>] {
        tick()
        return subscriber.takePending(atMost: limit)
    }
}

extension QueryTable {
    func subscribe(_ question: Question, _ subscriber: Subscriber<Facts.Value>) -> Subscription<Facts.Value> {
        let membership = join(question, subscriber)
        return Subscription(subscriber, tick: { self.tick(question) }, leave: { membership.leave() })
    }
}
