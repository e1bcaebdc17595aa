import DNSSD

/// One reader's position in a `ChangeLog`, and what else it has seen. It keeps no values, and can go on elsewhere
/// from a number.
package struct LogReader: Sendable {
    /// The number of the last change it has seen.
    package private(set) var number: UInt64
    /// Up to where it has seen everything; smaller than `number` while it catches up.
    package private(set) var base: UInt64
    /// Where the log was when the reader, which knew nothing, began; 0 where it goes on from a number.
    private var start: UInt64 = 0
    private var isSettled = false
    private var isBackendUp = true
    private var hasToldBackend = false
    private var degraded: UInt64

    /// A reader that has seen nothing.
    package init() {
        (number, base, degraded) = (0, 0, 0)
    }

    /// A reader that has seen everything up to `base`, and had got from there to `number`.
    package init(resumingAfter number: UInt64, base: UInt64) {
        self.number = number
        self.base = base
        degraded = base
    }

    /// The events it has not seen yet; empty if it is up to date, nil if it missed some that are no longer kept.
    package mutating func take<Value>(
        from log: ChangeLog<Value>,
        atMost limit: Int
    ) -> [(number: UInt64, change: Change<Value>)]? {
        // As long as it was told of nothing, it can have missed no end.
        if number == 0 { start = log.head }
        guard let changes = log.changes(after: number, base: base, since: start, atMost: limit) else { return nil }
        var told: [(number: UInt64, change: Change<Value>)] = []
        let isUp = log.backend.isUp
        if isUp != isBackendUp {
            let isFirst = !hasToldBackend
            isBackendUp = isUp
            hasToldBackend = true
            // A reader that never saw the backend sees it arrive, not return.
            told.append((number, .backend(isUp && isFirst ? .available : log.backend)))
        }
        if let news = log.degraded, news.number > degraded {
            degraded = news.number
            told.append((number, .degraded(news.text)))
        }
        told += changes
        if changes.count < limit {
            (number, base) = (log.head, log.head)
            // While the backend is away it is unknown whether this is all.
            if log.isSettled, isUp, !isSettled {
                isSettled = true
                told.append((number, .settled))
            }
        } else if let last = changes.last {
            number = last.number
        }
        return told
    }
}

/// A reader that knows what it has seen, as an iterator is one: it gets the least that makes of that what is there. Found and lost again is
/// nothing; lost and found again is a change, or nothing. It misses nothing, whatever the log has forgotten.
package struct LogFollower<Value: Listed>: Sendable {
    private let repeatsSettled: Bool
    private var number: UInt64 = 0
    /// Up to where forgotten ends were made up for.
    private var madeUp: UInt64 = 0
    /// What it has seen, in the log's slots, and how much of it there is.
    private var seen: [Value?] = []
    private var count = 0
    private var isBackendUp: Bool?
    private var hasSettled = false

    /// - Parameter repeatsSettled: whether to repeat `settled` after the backend has come back.
    package init(repeatsSettled: Bool = false) { self.repeatsSettled = repeatsSettled }

    /// What it has not seen yet, `limit` changes at most.
    @specialized(where Value == DiscoveredService)
    package mutating func take(from log: ChangeLog<Value>, atMost limit: Int) -> [Change<Value>] {
        guard number < log.head, limit > 0 else { return [] }
        var changes = forgottenEnds(log, atMost: limit)
        var notes = log.notes.drop { $0.number <= number }
        while changes.count < limit {
            let place = log.next(after: number)
            if let note = notes.first, note.number < place?.number ?? .max {
                guard take(note.note, note.number, log, limit, &changes) else { break }
                number = note.number
                notes.removeFirst()
            } else if let place {
                if let change = difference(in: place.slot, ended: place.ended, log) { changes.append(change) }
                number = place.number
            } else {
                number = log.head
                break
            }
        }
        return changes
    }

    private mutating func forgottenEnds(_ log: ChangeLog<Value>, atMost limit: Int) -> [Change<Value>] {
        guard log.forgotten > max(number, madeUp) else { return [] }
        var gone: [(slot: Int, value: Value)] = []
        // Their ends were forgotten, and they came back in another slot.
        var moved: [(slot: Int, value: Value)] = []
        for slot in seen.indices {
            guard let value = seen[slot], log.key(of: slot) != value.key else { continue }
            if log.slot(of: value.key) == nil { gone.append((slot, value)) } else { moved.append((slot, value)) }
        }
        let told = gone.prefix(limit)
        for (slot, _) in told { unsee(slot) }
        if gone.count <= limit {
            for (slot, _) in moved { unsee(slot) }
            for (_, value) in moved { if let slot = log.slot(of: value.key) { see(value, in: slot) } }
            if gone.count < limit { madeUp = log.forgotten }
        }
        return told.map { .lost($0.value) }
    }

    /// Takes note of what is in a slot now.
    /// - Parameter ended: what ended there.
    private mutating func difference(in slot: Int, ended: Value?, _ log: ChangeLog<Value>) -> Change<Value>? {
        guard let ended else {
            guard let now = log[slot] else { return nil }
            guard let old = see(now, in: slot) else { return .found(now) }
            return old == now ? nil : .changed(now)
        }
        // It may have come back, to the slot that it had.
        if log[slot] != nil { return difference(in: slot, ended: nil, log) }
        guard seen.indices.contains(slot), seen[slot] != nil else { return nil }
        unsee(slot)
        return .lost(ended)
    }

    /// - Returns: what it had seen there.
    @discardableResult private mutating func see(_ value: Value, in slot: Int) -> Value? {
        while seen.count <= slot { seen.append(nil) }
        defer { seen[slot] = value }
        if seen[slot] == nil { count += 1 }
        return seen[slot]
    }

    private mutating func unsee(_ slot: Int) {
        seen[slot] = nil
        count -= 1
        if count == 0 { seen = [] }
    }

    /// - Returns: false where `limit` was reached before the note.
    private mutating func take(
        _ note: ChangeLog<Value>.Note, _ number: UInt64, _ log: ChangeLog<Value>, _ limit: Int,
        _ changes: inout [Change<Value>]
    ) -> Bool {
        switch note {
        case .settled:
            guard repeatsSettled || !hasSettled else { return true }
            // What was there before is reported first, even if it has changed since.
            for slot in log.slots(addedBy: number) where !seen.indices.contains(slot) || seen[slot] == nil {
                guard changes.count < limit else { return false }
                if let change = difference(in: slot, ended: nil, log) { changes.append(change) }
            }
            guard changes.count < limit else { return false }
            hasSettled = true
            changes.append(.settled)
        case .backend(let state):
            guard state.isUp != isBackendUp else { return true }
            isBackendUp = state.isUp
            changes.append(.backend(state))
        case .degraded(let text): changes.append(.degraded(text))
        }
        return true
    }
}

extension BackendState {
    /// Whether it answers.
    package var isUp: Bool {
        switch self {
        case .available, .recovered: true
        case .unavailable, .lost: false
        }
    }
}
