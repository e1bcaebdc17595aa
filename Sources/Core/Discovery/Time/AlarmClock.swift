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
