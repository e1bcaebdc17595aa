/// Which containers are looked at, and when. A value with virtual time.
package struct LookSchedule: Sendable {
    /// After an event: others may follow it.
    package static let delay = Duration.milliseconds(200)
    /// Between two looks at one container.
    package static let pause = Duration.seconds(1)
    /// More wait for a list in their place.
    package static let maximum = 2 * LabelBoard.maximumEntries

    private var due: [String: Duration] = [:]
    private var looked: [String: Duration] = [:]

    package init() {}

    /// When the next is due.
    package var next: Duration? { due.values.min() }

    /// One is to be looked at.
    /// - Returns: whether there was room.
    package mutating func add(_ id: String, at now: Duration) -> Bool {
        guard due[id] == nil else { return true }
        guard due.count < Self.maximum else { return false }
        due[id] = max(now + Self.delay, looked[id].map { $0 + Self.pause } ?? .zero)
        return true
    }

    /// One of a list, or that was not told, whatever was before.
    package mutating func add(_ id: String, in delay: Duration, at now: Duration) { due[id] = now + delay }

    /// The next that is due; it counts as looked at.
    package mutating func take(at now: Duration) -> String? {
        guard let (id, time) = due.min(by: { $0.value < $1.value }), time <= now else { return nil }
        due[id] = nil
        looked[id] = now
        if looked.count > Self.maximum { looked = looked.filter { now - $0.value < Self.pause } }
        return id
    }
}
