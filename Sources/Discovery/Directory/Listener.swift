/// Receives a query's changes.
package protocol Listener<Value>: AnyObject, Sendable {
    associatedtype Value: Listed

    /// Takes changes in. Called with the query's lock held, so that no change overtakes another.
    /// - Returns: work to do after the lock is released: resuming waiters, joining other queries.
    func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp?

    /// The engine was shut down: no further changes come.
    func shutDown() -> FollowUp?
}

/// Work to do once no lock is held.
package typealias FollowUp = @Sendable () -> Void
