package import DNSSD
import DiscoveryPOSIX

/// One iterator's state: its log of changes, and how far it has read.
package final class Subscriber<Value: Listed>: Listener {
    private enum End { case cancelled, shutDown }

    private struct State {
        /// Short: an iterator knows what it has seen, and needs no ends of it.
        var log = ChangeLog<Value>(endLimit: 64)
        var reader: LogFollower<Value>
        /// At most one, unless an iterator is copied.
        var waiters = Waiters()
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
            return state.waiters.changed()
        }
    }

    package func shutDown() -> FollowUp? { end(.shutDown) }

    /// Waits until changes are ready and returns up to `limit` of them. Called by one task at a time.
    /// - Returns: nil if the task is cancelled; an empty list if `deadline` passes.
    /// - Throws: `.closed` if the engine was shut down and all earlier changes have been returned.
    package func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<
        Value
    >]? {
        // The alarm belongs to this call: the deadline concerns no one else.
        var alarm: Alarm?
        while true {
            if Task.isCancelled { end(.cancelled)() }
            let (changes, end, version) = state.withLock { state in
                let changes = state.end == .cancelled ? [] : state.reader.take(from: state.log, atMost: limit)
                return (changes, state.end, state.waiters.version)
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
            await state.wait(for: \.waiters, after: version)
        }
    }

    private func wake() {
        let wake = state.withLock { $0.waiters.changed() }
        wake()
    }

    private func end(_ reason: End) -> FollowUp {
        state.withLock { state in
            state.end = state.end ?? reason
            return state.waiters.changed()
        }
    }
}

/// An iterator's subscriber and its membership, which ends with it.
struct Subscription<Value: Listed>: Sendable {
    let subscriber: Subscriber<Value>
    let membership: Membership

    /// Leaves the query; may be called more than once.
    func end() { membership.leave() }

    /// Returns what `Subscriber.next` does, and leaves the query if the task is cancelled.
    func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<Value>]? {
        let changes = try await subscriber.next(atMost: limit, until: deadline)
        if changes == nil { end() }
        return changes
    }
}

extension QueryTable {
    func subscribe(_ question: Question, _ subscriber: Subscriber<Facts.Value>) -> Subscription<Facts.Value> {
        Subscription(subscriber: subscriber, membership: join(question, subscriber))
    }
}
