public import Discovery
import DiscoveryPOSIX

/// A clock that stands still until a test advances it.
public final class TestTime: TimeSource {
    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Duration
        var lastID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var watchers: [UInt64: (deadline: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    private let state: Locked<State>

    /// Creates a clock that reads `now`.
    public init(now: Duration = .zero) { state = Locked(State(now: now)) }

    /// The current reading.
    public var now: Duration { state.withLock { $0.now } }

    /// The number of sleeping tasks.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock and wakes the tasks whose deadline has passed.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until a task sleeps until exactly `deadline`, so that advancing the clock will wake it, or the caller is cancelled, as by the time limit
    /// of its test.
    public func sleeper(until deadline: Duration) async {
        let id = state.withLock { $0.nextID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.sleepers.values.contains(where: { $0.deadline == deadline }) {
                        return true
                    }
                    state.watchers[id] = (deadline, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Returns once the clock reaches `deadline`.
    public func sleep(until deadline: Duration) async throws {
        let id = state.withLock { $0.nextID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(id, Sleeper(deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enter(_ id: UInt64, _ sleeper: Sleeper) {
        enum Outcome { case sleeps([CheckedContinuation<Void, Never>]), due, cancelled }
        let outcome = state.withLock { state -> Outcome in
            // Cancelling sets the flag before it looks for the sleeper, so one of the two notices the other.
            guard !Task.isCancelled else { return .cancelled }
            guard sleeper.deadline > state.now else { return .due }
            state.sleepers[id] = sleeper
            let reached = state.watchers.filter { $0.value.deadline == sleeper.deadline }
            for id in reached.keys { state.watchers[id] = nil }
            return .sleeps(reached.values.map(\.continuation))
        }
        switch outcome {
        case .sleeps(let watchers): for watcher in watchers { watcher.resume() }
        case .due: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }
}
