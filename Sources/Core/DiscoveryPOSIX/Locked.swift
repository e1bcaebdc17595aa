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
