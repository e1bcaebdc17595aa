/// One deadline for each key.
///
/// Deadlines are rounded up to 10 ms, so that thousands that nearly coincide cost one look. After a deadline is
/// cleared, `next` may be earlier than all others: this costs an idle look, and saves a search at each change.
package struct DeadlineTable<Key: Hashable & Sendable>: Sendable {
    private var times: [Key: Duration] = [:]

    /// No deadline is earlier than this; nil if there is none.
    package private(set) var next: Duration?

    package init() {}

    package var keys: [Key] { Array(times.keys) }
    package func contains(_ key: Key) -> Bool { times[key] != nil }

    package mutating func set(_ key: Key, to deadline: Duration?) {
        guard let deadline else {
            times[key] = nil
            if times.isEmpty { next = nil }
            return
        }
        let rounded = min(max(deadline, .zero - SystemTime.horizon), SystemTime.horizon).roundedUpToGrain
        times[key] = rounded
        next = min(next ?? rounded, rounded)
    }

    /// Removes the keys that are due and returns them in no particular order.
    package mutating func due(_ now: Duration) -> [Key] {
        guard let earliest = next, earliest <= now else { return [] }
        let keys = times.filter { $0.value <= now }.map(\.key)
        for key in keys { times[key] = nil }
        next = times.values.min()
        return keys
    }
}

extension Duration {
    /// The duration, rounded up to a multiple of 10 ms.
    var roundedUpToGrain: Duration {
        let grain: Int64 = 10_000_000_000_000_000
        let (seconds, attoseconds) = components
        let remainder = attoseconds % grain
        guard remainder != 0 else { return self }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
            + Duration(secondsComponent: 0, attosecondsComponent: remainder > 0 ? grain - remainder : -remainder)
    }
}
