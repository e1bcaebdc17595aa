package import DNSSD

/// The numbered changes of one query. Only those that still matter are kept: the last of each present
/// value, and a bounded number of ends and notes.
///
/// A reader is a number. A slow one costs nothing, sees only the latest state of each value, and misses nothing, unless
/// ends that it has not seen were forgotten. An iterator reads it with a `LogFollower`, a client that returns with a cursor with a `LogReader`.
package struct ChangeLog<Value: Listed>: Sendable {
    package typealias Key = Value.Key

    /// A change that is about no value.
    package enum Note: Sendable {
        case settled
        case backend(BackendState)
        case degraded(String)
    }

    private struct Live {
        let value: Value
        let added: UInt64
        let changed: UInt64
    }

    private struct End {
        let value: Value
        let added: UInt64
    }

    private struct Place {
        let number: UInt64
        let key: Key
    }

    private let endLimit: Int
    /// The number of the last change.
    package private(set) var head: UInt64 = 0
    /// Everything known at the start, or when the backend came back, has been reported.
    package private(set) var isSettled = false
    /// The last state of the backend.
    package private(set) var backend = BackendState.available
    /// The last notice of something left out.
    package private(set) var degraded: (text: String, number: UInt64)?
    private var live: [Key: Live] = [:]
    private var ends: [UInt64: End] = [:]
    /// Sorted by number; a place is void when the service has a later one.
    private var places: [Place] = []
    /// The last notes, by number.
    package private(set) var notes: [(number: UInt64, note: Note)] = []
    /// The number of the last end that is no longer kept.
    package private(set) var forgotten: UInt64 = 0

    package init(endLimit: Int = 4096) { self.endLimit = endLimit }

    package var count: Int { live.count }
    /// Places kept, void ones included.
    package var length: Int { places.count + notes.count }

    /// The present values, in the order found.
    package var values: [Value] { Self.inOrder(Array(live.values)) }

    /// Whether a present value is such.
    package func contains(where isSuch: (Value) -> Bool) -> Bool { live.values.contains { isSuch($0.value) } }

    package subscript(key: Key) -> Value? { live[key]?.value }

    package mutating func apply(_ change: Change<Value>) {
        head += 1
        switch change {
        case .found(let value), .changed(let value):
            live[value.key] = Live(value: value, added: live[value.key]?.added ?? head, changed: head)
            places.append(Place(number: head, key: value.key))
        case .lost(let value):
            guard let old = live.removeValue(forKey: value.key) else { return }
            live.giveBack()
            ends[head] = End(value: value, added: old.added)
            places.append(Place(number: head, key: value.key))
        case .settled:
            isSettled = true
            note(.settled)
        case .backend(let state):
            backend = state
            // What came while it was away is unknown until it has listed again.
            // Omissions that still hold are reported again.
            if state == .recovered { (isSettled, degraded) = (false, nil) }
            note(.backend(state))
        case .degraded(let text):
            degraded = (text, head)
            note(.degraded(text))
        }
        tidy()
    }

    /// Of each kind the last are kept, and of the backend the first too: it goes and comes in turn.
    private mutating func note(_ note: Note) {
        let same = notes.indices.filter { notes[$0].note.isLike(note) }
        switch note {
        case .settled: if let last = same.last { notes.remove(at: last) }
        case .backend: if same.count >= 4 { for index in same[1...2].reversed() { notes.remove(at: index) } }
        case .degraded: if same.count >= 8 { notes.remove(at: same[0]) }
        }
        notes.append((head, note))
    }

    /// Nothing is left out now. It counts as a change: answers are made again.
    package mutating func endDegraded() {
        head += 1
        degraded = nil
    }

    /// The changes after a number, `limit` at most, each with its own number; nil when some are no longer known.
    ///
    /// - Parameter base: up to where the reader has seen everything; smaller than `number` while it catches up. It may have seen
    ///   what was found since: that is reported as found again, and its end in any case.
    package func changes(
        after number: UInt64,
        base: UInt64,
        atMost limit: Int
    ) -> [(number: UInt64, change: Change<Value>)]? {
        guard number == 0 || number >= forgotten else { return nil }
        var changes: [(number: UInt64, change: Change<Value>)] = []
        var index = firstPlace(after: number)
        while index < places.count, changes.count < limit {
            let place = places[index]
            index += 1
            if let end = ends[place.number] {
                // A reader that never saw the service does not need its removal.
                if end.added <= base || number > base { changes.append((place.number, .lost(end.value))) }
            } else if let now = live[place.key], now.changed == place.number {
                changes.append((place.number, now.added > base ? .found(now.value) : .changed(now.value)))
            }
        }
        return changes
    }

    /// The next place after a number: whose it is, and as what it ended there, if that is what happened.
    package func next(after number: UInt64) -> (number: UInt64, key: Key, ended: Value?)? {
        let index = firstPlace(after: number)
        guard index < places.count else { return nil }
        return (places[index].number, places[index].key, ends[places[index].number]?.value)
    }

    /// The present values that were there at a number and are wanted, in the order found.
    package func values(addedBy number: UInt64, where isWanted: (Key) -> Bool) -> [Value] {
        Self.inOrder(live.filter { $1.added <= number && isWanted($0) }.map(\.value))
    }

    /// Sorts numbers, not values: each look at one would count its references up and down.
    private static func inOrder(_ live: [Live]) -> [Value] {
        zip(live.map(\.added), live.indices).sorted { $0.0 < $1.0 }.map { live[$0.1].value }
    }

    private func firstPlace(after number: UInt64) -> Int { places.partitioningIndex { $0.number > number } }

    /// Drops void places and the oldest ends once half of the places may be such: cheap on average.
    private mutating func tidy() {
        guard places.count > 2 * (live.count + endLimit) else { return }
        var surplus = max(ends.count - endLimit, 0)
        places = places.filter { place in
            guard ends[place.number] != nil else { return live[place.key]?.changed == place.number }
            guard surplus > 0 else { return true }
            surplus -= 1
            ends[place.number] = nil
            forgotten = place.number
            return false
        }
    }
}

extension ChangeLog.Note {
    fileprivate func isLike(_ other: Self) -> Bool {
        switch (self, other) {
        case (.settled, .settled), (.backend, .backend), (.degraded, .degraded): true
        default: false
        }
    }
}

/// Something a catalog lists, with an identity that survives changes.
package protocol Listed: Hashable, Sendable {
    associatedtype Key: Hashable & Sendable
    var key: Key { get }
}

/// What a catalog reports about the things it lists: to programs, as it is, of services.
package typealias Change<Value: Listed> = ListEvent<Value>

extension DiscoveredService: Listed {
    package var key: ServiceInstance { instance }
}
