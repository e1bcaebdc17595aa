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

    private struct Slot {
        /// The last one.
        var value: Value
        /// The number with which it was found; 0 once it has ended.
        var added: UInt64
        /// The number of the last change, or of the end.
        var changed: UInt64

        var isPresent: Bool { added > 0 }
    }

    private struct End {
        let value: Value
        let added: UInt64
    }

    private struct Place {
        let number: UInt64
        let slot: Int
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
    /// The values that are present, or whose end is kept. Each has a slot of its own as long, which a reader remembers in place of the key. A slot
    /// of 24 bytes that is free stays for the next.
    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var index: [Key: Int] = [:]
    /// How many values are present.
    package private(set) var count = 0
    private var ends: [UInt64: End] = [:]
    /// Sorted by number; a place is void when the service has a later one.
    private var places: [Place] = []
    /// The last notes, by number.
    package private(set) var notes: [(number: UInt64, note: Note)] = []
    /// The number of the last end that is no longer kept.
    package private(set) var forgotten: UInt64 = 0

    package init(endLimit: Int = 4096) { self.endLimit = endLimit }

    /// What is kept: places, void ones included, slots, free ones included, and notes.
    package var length: Int { places.count + slots.count + notes.count }

    /// The present values, in the order found.
    package var values: [Value] { slots { _ in true }.compactMap { self[$0] } }

    /// Whether a present value is such.
    package func contains(where isSuch: (Value) -> Bool) -> Bool {
        slots.indices.contains { self[$0].map(isSuch) ?? false }
    }

    /// Where a value is that is present, or whose end is kept.
    func slot(of key: Key) -> Int? { index[key] }

    /// The key of a slot's value, whether that is present or has ended.
    func key(of slot: Int) -> Key? { slots.indices.contains(slot) ? slots[slot]?.value.key : nil }

    /// The value in a slot, if it is present.
    subscript(slot: Int) -> Value? {
        guard slots.indices.contains(slot), let found = slots[slot], found.isPresent else { return nil }
        return found.value
    }

    @specialized(where Value == DiscoveredService)
    package mutating func apply(_ change: Change<Value>) {
        head += 1
        switch change {
        case .found(let value), .changed(let value):
            places.append(Place(number: head, slot: enter(value)))
        case .lost(let value):
            guard let slot = index[value.key], let old = slots[slot], old.isPresent else { return }
            slots[slot]?.value = value
            slots[slot]?.added = 0
            slots[slot]?.changed = head
            count -= 1
            ends[head] = End(value: value, added: old.added)
            places.append(Place(number: head, slot: slot))
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

    private mutating func enter(_ value: Value) -> Int {
        guard let slot = index[value.key], let old = slots[slot] else {
            let slot = free.popLast() ?? slots.count
            if slot == slots.count { slots.append(nil) }
            slots[slot] = Slot(value: value, added: head, changed: head)
            index[value.key] = slot
            count += 1
            return slot
        }
        slots[slot]?.value = value
        slots[slot]?.changed = head
        if !old.isPresent {
            slots[slot]?.added = head
            count += 1
        }
        return slot
    }

    /// An end is no longer kept, and so is what ended, unless it has come back.
    private mutating func forget(_ place: Place) {
        ends[place.number] = nil
        forgotten = place.number
        guard let ended = slots[place.slot], !ended.isPresent, ended.changed == place.number else { return }
        index[ended.value.key] = nil
        slots[place.slot] = nil
        free.append(place.slot)
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
    /// - Parameter start: where the log was when a reader that knew nothing began: it needs no end from before, however far it has come.
    package func changes(
        after number: UInt64,
        base: UInt64,
        since start: UInt64 = 0,
        atMost limit: Int
    ) -> [(number: UInt64, change: Change<Value>)]? {
        guard number == 0 || max(number, start) >= forgotten else { return nil }
        var changes: [(number: UInt64, change: Change<Value>)] = []
        var index = firstPlace(after: number)
        while index < places.count, changes.count < limit {
            let place = places[index]
            index += 1
            if let end = ends[place.number] {
                // A reader that never saw the service does not need its removal.
                if end.added <= base || number > base { changes.append((place.number, .lost(end.value))) }
            } else if let now = present(at: place) {
                changes.append((place.number, now.added > base ? .found(now.value) : .changed(now.value)))
            }
        }
        return changes
    }

    /// The next place after a number: in which slot, and what ended there, if that is what happened.
    func next(after number: UInt64) -> (number: UInt64, slot: Int, ended: Value?)? {
        let index = firstPlace(after: number)
        guard index < places.count else { return nil }
        let place = places[index]
        return (place.number, place.slot, ends[place.number]?.value)
    }

    /// The slots of the present values that were there at a number, in the order found.
    func slots(addedBy number: UInt64) -> [Int] { slots { $0.added <= number } }

    private func slots(where isWanted: (Slot) -> Bool) -> [Int] {
        var found: [(added: UInt64, slot: Int)] = []
        for place in slots.indices {
            if let slot = slots[place], slot.isPresent, isWanted(slot) { found.append((slot.added, place)) }
        }
        return found.sorted { $0.added < $1.added }.map(\.slot)
    }

    /// The value whose last change has this place; nil if the place is void.
    private func present(at place: Place) -> Slot? {
        guard let slot = slots[place.slot], slot.isPresent, slot.changed == place.number else { return nil }
        return slot
    }

    private func firstPlace(after number: UInt64) -> Int { places.partitioningIndex { $0.number > number } }

    /// Drops void places and the oldest ends once half of the places may be such: cheap on average.
    private mutating func tidy() {
        guard places.count > 2 * (count + endLimit) else { return }
        var surplus = max(ends.count - endLimit, 0)
        places = places.filter { place in
            guard ends[place.number] != nil else { return present(at: place) != nil }
            guard surplus > 0 else { return true }
            surplus -= 1
            forget(place)
            return false
        }
        index.giveBack()
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
