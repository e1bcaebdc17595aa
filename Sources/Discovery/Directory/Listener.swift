/// Who is told the changes of a query.
package protocol Listener<Value>: AnyObject, Sendable {
    associatedtype Value: Listed

    /// Takes changes in. Called with the query's lock held, so that no change overtakes another.
    /// - Returns: what is left to do without a lock: resuming who waits, joining other queries.
    func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp?

    /// The engine was shut down: nothing comes any more.
    func shutDown() -> FollowUp?
}

/// What is left to do once no lock is held.
package typealias FollowUp = @Sendable () -> Void
