import Synchronization

/// Calls back once after nothing has happened for a while.
public final class Silence: Sendable {
    private final class Clock: Sendable {
        let last = Mutex(ContinuousClock.now)
    }
    private let clock = Clock()
    private let task: Task<Void, Never>

    /// Starts the timer.
    public init(_ limit: Duration, _ callback: @escaping @Sendable () -> Void) {
        // Unstructured, because no scope owns it: `cancel` or the last reference ends it.
        task = Task { [clock] in
            while !Task.isCancelled {
                let end = clock.last.withLock { $0 } + limit
                guard ContinuousClock.now < end else { return callback() }
                try? await Task.sleep(until: end, clock: .continuous)
            }
        }
    }

    deinit { task.cancel() }

    /// Restarts the timer. Call it when something happens.
    public func restart() { clock.last.withLock { $0 = .now } }

    /// Stops the timer; the callback is not called any more.
    public func cancel() { task.cancel() }
}
