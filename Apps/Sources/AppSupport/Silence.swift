import Synchronization

/// Calls back once when nothing happened for a time.
public final class Silence: Sendable {
    private final class Clock: Sendable {
        let last = Mutex(ContinuousClock.now)
    }
    private let clock = Clock()
    private let task: Task<Void, Never>

    /// Starts the clock.
    public init(_ limit: Duration, _ callback: @escaping @Sendable () -> Void) {
        // Unstructured, because it belongs to no one's scope: `cancel` or the last reference ends it.
        task = Task { [clock] in
            while !Task.isCancelled {
                let end = clock.last.withLock { $0 } + limit
                guard ContinuousClock.now < end else { return callback() }
                try? await Task.sleep(until: end, clock: .continuous)
            }
        }
    }

    deinit { task.cancel() }

    /// Something happened.
    public func restart() { clock.last.withLock { $0 = .now } }

    /// No call any more.
    public func cancel() { task.cancel() }
}
