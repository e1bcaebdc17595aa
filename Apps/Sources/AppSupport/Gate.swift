import Synchronization

/// Limits how many may be inside at a time.
public final class Gate: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)

    /// Creates a gate that admits `limit` at a time.
    public init(limit: Int) { self.limit = limit }

    /// - Returns: whether a place was free; each `true` requires one `leave()`.
    public func enter() -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        leave()
        return false
    }

    /// Releases a place.
    public func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
