package import DNSSD

/// A value that takes an engine's facts and the time, and returns changes.
package protocol FactCatalog: Sendable {
    associatedtype Fact: Sendable
    associatedtype Value: Listed

    /// Takes a fact in.
    mutating func apply(_ fact: Fact, now: Duration) -> [Change<Value>]
    /// Returns what time alone has changed.
    mutating func tick(now: Duration) -> [Change<Value>]
    /// When to `tick`; nil: never, unless a fact comes.
    var nextDeadline: Duration? { get }
    /// Everything that was reported and still holds, in the order it was found.
    var snapshot: [Value] { get }
    /// `settled` was reported, and the backend has not come back since without listing again.
    var isSettled: Bool { get }
    /// The last state of the backend that was reported; nil before the first.
    var backend: BackendState? { get }
}
