/// Which containers are looked at, and when. A value with virtual time.
package struct LookSchedule: Sendable {
    /// After an event: others may follow it.
    package static let delay = Duration.milliseconds(200)
    /// Between two looks at one container.
    package static let pause = Duration.seconds(1)
    /// Until a look at one that was not told what it is: twice as long each time.
    package static let again = (first: Duration.seconds(5), longest: Duration.seconds(300))
    /// More wait for a list in their place.
    package static let maximum = 2 * LabelBoard.maximumEntries

    private var due: [String: Duration] = [:]
    private var looked: [String: Duration] = [:]
    /// Of those that were not told.
    private var pauses: [String: Duration] = [:]

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

    /// One of a list is looked at now, but for one that was not told and waits.
    package mutating func listed(_ id: String, at now: Duration) {
        if due[id] == nil || pauses[id] == nil { due[id] = now }
    }

    /// It was not told what one is.
    package mutating func lookAgain(_ id: String, at now: Duration) {
        let pause = min(pauses[id].map { $0 * 2 } ?? Self.again.first, Self.again.longest)
        if pauses.count < Self.maximum || pauses[id] != nil { pauses[id] = pause }
        due[id] = now + pause
    }

    /// It was told what one is.
    package mutating func wasTold(_ id: String) { pauses[id] = nil }

    /// One has ended: what comes of this name is another.
    package mutating func forget(_ id: String) { (pauses[id], due[id]) = (nil, nil) }

    /// The next that is due; it counts as looked at.
    package mutating func take(at now: Duration) -> String? {
        guard let (id, time) = due.min(by: { $0.value < $1.value }), time <= now else { return nil }
        due[id] = nil
        looked[id] = now
        if looked.count > Self.maximum { looked = looked.filter { now - $0.value < Self.pause } }
        return id
    }
}
