/// A value under a lock whose changes tasks wait for. Which of several gets what one change makes possible is not promised.
package final class Awaited<Value: Sendable>: Sendable {
    private struct Contents {
        var value: Value
        var waiters = Waiters()
    }

    private let contents: Locked<Contents>

    package init(_ value: Value) { contents = Locked(Contents(value: value)) }

    /// The value as it is now.
    package var value: Value { contents.withLock { $0.value } }

    /// Changes the value; all that wait look at it again.
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, wake) = contents.withLock { (body(&$0.value), $0.waiters.changed()) }
        wake()
        return result
    }

    /// Waits until `body` returns a result. It is called at once and after each change, with the lock held, and may change the value.
    /// - Returns: nil where the task is cancelled.
    package func wait<Result: Sendable>(for body: (inout Value) -> Result?) async -> Result? {
        let result = await contents.first(in: \.waiters) { body(&$0.value) }
        if result != nil { change { _ in } }
        return result
    }
}
