package import DNSSD

/// What becomes of an engine's facts: a value that is told facts and the time, and answers with changes.
package protocol FactCatalog: Sendable {
    associatedtype Fact: Sendable
    associatedtype Value: Listed

    /// Takes a fact in.
    mutating func apply(_ fact: Fact, now: Duration) -> [Change<Value>]
    /// Looks at what time alone has changed.
    mutating func tick(now: Duration) -> [Change<Value>]
    /// When to `tick`; nil: never, unless a fact comes.
    var nextDeadline: Duration? { get }
    /// Everything that was told and holds, in the order it was found.
    var snapshot: [Value] { get }
    /// `settled` was told, and the backend has not come back since without listing again.
    var isSettled: Bool { get }
    /// What was told last of the backend; nil before anything was.
    var backend: BackendState? { get }
}
