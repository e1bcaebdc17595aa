/// Receives a query's changes.
package protocol Listener<Value>: AnyObject, Sendable {
    associatedtype Value: Listed

    /// Takes changes in. Called with the query's lock held, so that changes stay in order.
    /// - Returns: work for after the lock is released, such as resuming waiters or joining other queries.
    func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp?

    /// The engine was shut down; no further changes come.
    /// - Returns: as `receive`.
    func shutDown() -> FollowUp?
}

/// Work to do once no lock is held.
package typealias FollowUp = @Sendable () -> Void
