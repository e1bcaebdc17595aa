package import DNSSD

/// A value that takes an engine's facts and the time, and returns changes.
package protocol FactCatalog: Sendable {
    associatedtype Fact: Sendable
    associatedtype Value: Listed

    /// Applies a fact.
    mutating func apply(_ fact: Fact, now: Duration) -> [Change<Value>]
    /// Returns changes caused by time alone.
    mutating func tick(now: Duration) -> [Change<Value>]
    /// When to call `tick`; nil if only a fact can change anything.
    var nextDeadline: Duration? { get }
    /// Everything reported that still holds, in the order found.
    var snapshot: [Value] { get }
    /// `settled` was reported and still holds: the backend has not come back since without listing again.
    var isSettled: Bool { get }
    /// The last reported state of the backend; nil before the first.
    var backend: BackendState? { get }
}
