package import Libc

/// A value behind a mutex. Hold it briefly: do not wait, call an engine or resume a continuation inside.
///
/// Not `Synchronization.Mutex`, for which ThreadSanitizer reports false races on Linux. `@unchecked` holds since
/// `value` is touched only between lock and unlock.
@safe package final class Locked<Value: Sendable>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        // Cannot fail on Linux with default attributes (pthread_mutex_init(3p)).
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Puts another value in the place of this one.
    /// - Returns: what was there.
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

/// Tasks waiting for the next change; stored under the same lock as the value they watch.
package struct Waiters: Sendable {
    /// The number of changes so far, from 1. A task that has seen one version can wait for a newer one.
    package private(set) var version: UInt64 = 1
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var lastID: UInt64 = 0

    package init() {}

    /// Counts a change.
    /// - Returns: work that resumes the waiting tasks.
    package mutating func changed() -> @Sendable () -> Void {
        version += 1
        defer { waiting = [:] }
        return { [waiting] in for continuation in waiting.values { continuation.resume() } }
    }

    fileprivate mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// - Returns: whether there is nothing to wait for.
    fileprivate mutating func enter(
        _ id: UInt64, _ continuation: CheckedContinuation<Void, Never>, after version: UInt64
    )
        -> Bool
    {
        guard self.version == version, !Task.isCancelled else { return true }
        waiting[id] = continuation
        return false
    }

    fileprivate mutating func leave(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        waiting.removeValue(forKey: id)
    }
}

extension Locked {
    /// Waits until `value` returns one, which is looked for at each change; nil when the task is cancelled before.
    package func first<Result>(
        in waiters: any WritableKeyPath<Value, Waiters> & Sendable, _ value: (inout Value) -> Result?
    ) async -> Result? {
        while !Task.isCancelled {
            let (found, version) = withLock { (value(&$0), $0[keyPath: waiters].version) }
            if let found { return found }
            await wait(for: waiters, after: version)
        }
        return nil
    }

    /// Waits until the version differs from `version` or the task is cancelled.
    package func wait(for waiters: any WritableKeyPath<Value, Waiters> & Sendable, after version: UInt64) async {
        let id = withLock { $0[keyPath: waiters].makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = withLock { $0[keyPath: waiters].enter(id, continuation, after: version) }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            withLock { $0[keyPath: waiters].leave(id) }?.resume()
        }
    }
}
