import Glibc

/// A value behind a lock.
///
/// A pthread mutex rather than `Synchronization.Mutex`, because ThreadSanitizer does not see through the latter on Linux and
/// reports races that are none.
@safe package final class Locked<Value>: @unchecked Sendable {
    // Touched only while `mutex` is held, which is what makes the class Sendable.
    private var value: Value
    // In memory of its own: a mutex must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value; never call back into the same lock from it.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
