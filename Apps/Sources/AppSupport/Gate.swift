import Synchronization

/// Counts who is inside, up to a limit.
public final class Gate: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)

    /// A gate that lets `limit` in at a time.
    public init(limit: Int) { self.limit = limit }

    /// - Returns: whether there was a place; each `true` needs a `leave()`.
    public func enter() -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        leave()
        return false
    }

    /// Gives a place back.
    public func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
