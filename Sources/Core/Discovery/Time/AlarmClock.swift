import DiscoveryPOSIX

/// Calls back at deadlines, with one task for all of them.
///
/// The task is unstructured because no caller owns it: it lives while there are deadlines, so a `LocalNetwork` needs no
/// `run()` beside it, and an idle one costs nothing.
package final class AlarmClock: Sendable {
    private struct State {
        var deadlines = DeadlineTable<UInt64>()
        var actions: [UInt64: @Sendable (Duration) -> Void] = [:]
        var lastID: UInt64 = 0
        var sleeper: Sleeper?
    }

    private struct Sleeper {
        let deadline: Duration
        let task: Task<Void, Never>
    }

    private let time: any TimeSource
    private let state = Locked(State())

    package init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.sleeper?.task.cancel() } }

    /// Makes an alarm without a deadline; it ends with the last reference to it.
    /// - Parameter action: called at the deadline, without a lock, from any thread.
    package func make(_ action: @escaping @Sendable (_ now: Duration) -> Void) -> Alarm {
        let id = state.withLock { state in
            state.lastID += 1
            state.actions[state.lastID] = action
            return state.lastID
        }
        return Alarm(id: id, alarmClock: self)
    }

    fileprivate func set(_ id: UInt64, to deadline: Duration?) {
        state.withLock { state in
            state.deadlines.set(id, to: deadline)
            schedule(&state)
        }
    }

    fileprivate func remove(_ id: UInt64) {
        state.withLock { state in
            state.actions[id] = nil
            state.deadlines.set(id, to: nil)
            schedule(&state)
        }
    }

    private func schedule(_ state: inout State) {
        guard let deadline = state.deadlines.next else {
            state.sleeper?.task.cancel()
            state.sleeper = nil
            return
        }
        if let sleeper = state.sleeper {
            // Waking too early is harmless; a new task for each deadline that moves back would be costly.
            guard deadline < sleeper.deadline else { return }
            sleeper.task.cancel()
        }
        let task = Task { [weak self, time] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            self?.fire(deadline)
        }
        state.sleeper = Sleeper(deadline: deadline, task: task)
    }

    private func fire(_ deadline: Duration) {
        let now = time.now
        let actions = state.withLock { state -> [@Sendable (Duration) -> Void] in
            // A sleeper that was replaced while waking does nothing; its successor handles the deadlines.
            guard state.sleeper?.deadline == deadline else { return [] }
            state.sleeper = nil
            let due = state.deadlines.due(now)
            schedule(&state)
            return due.sorted().compactMap { state.actions[$0] }
        }
        for action in actions { action(now) }
    }
}

/// One deadline that can be moved, with an action.
package final class Alarm: Sendable {
    private let id: UInt64
    private let alarmClock: AlarmClock

    fileprivate init(id: UInt64, alarmClock: AlarmClock) {
        self.id = id
        self.alarmClock = alarmClock
    }

    deinit { alarmClock.remove(id) }

    /// Moves the deadline; nil clears it.
    package func set(to deadline: Duration?) { alarmClock.set(id, to: deadline) }
}

/// One deadline for each key.
///
/// Deadlines are rounded up to 10 ms, so that thousands that nearly coincide cost one look. After a deadline is
/// cleared, `next` may be earlier than all others: this costs an idle look, and saves a search at each change.
package struct DeadlineTable<Key: Hashable & Sendable>: Sendable {
    private var times: [Key: Duration] = [:]

    /// No deadline is earlier than this; nil if there is none.
    package private(set) var next: Duration?

    package init() {}

    package mutating func set(_ key: Key, to deadline: Duration?) {
        guard let deadline else {
            times[key] = nil
            if times.isEmpty { next = nil }
            return
        }
        let rounded = min(max(deadline, .zero - SystemTime.horizon), SystemTime.horizon).roundedUpToGrain
        times[key] = rounded
        next = min(next ?? rounded, rounded)
    }

    /// Removes the keys that are due and returns them in no particular order.
    package mutating func due(_ now: Duration) -> [Key] {
        guard let earliest = next, earliest <= now else { return [] }
        let keys = times.filter { $0.value <= now }.map(\.key)
        for key in keys { times[key] = nil }
        next = times.values.min()
        return keys
    }
}

/// The earlier of two deadlines; nil for never.
package func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}

extension Duration {
    /// The duration, rounded up to a multiple of 10 ms.
    var roundedUpToGrain: Duration {
        let grain: Int64 = 10_000_000_000_000_000
        let (seconds, attoseconds) = components
        let remainder = attoseconds % grain
        guard remainder != 0 else { return self }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
            + Duration(secondsComponent: 0, attosecondsComponent: remainder > 0 ? grain - remainder : -remainder)
    }
}

/// A clock that a test can replace.
public protocol TimeSource: Sendable {
    /// The time since a fixed origin. It never goes back, and stands still while the machine sleeps.
    var now: Duration { get }

    /// Waits until `now` has reached `deadline`.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until deadline: Duration) async throws
}

/// The system's monotonic clock, `CLOCK_MONOTONIC`: unaffected by setting the clock, and stopped while the machine
/// sleeps.
public struct SystemTime: TimeSource {
    private static let origin = SuspendingClock().now

    /// Creates a time source; all have the same origin.
    public init() {}

    /// The time since the first use in this process.
    public var now: Duration { Self.origin.duration(to: SuspendingClock().now) }

    /// The latest deadline, about 136 years: the clock traps on overflow near 2⁶³ s, and no process lives this long.
    static let horizon = Duration.seconds(1 << 32)

    /// Waits until `now` has reached `deadline`, or 2³² s if that is earlier.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        let deadline = min(max(deadline, .zero), Self.horizon)
        try await SuspendingClock().sleep(until: Self.origin.advanced(by: deadline))
    }
}
