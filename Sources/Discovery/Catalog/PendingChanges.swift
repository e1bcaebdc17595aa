import DNSSD

/// What one subscriber has not seen yet: the difference between what it saw last and what is true.
///
/// Holding a difference instead of events bounds it by what exists, not by traffic: found and lost again is nothing, lost and
/// found again is a change, or nothing. Changes to one thing come once in an interval, and so do its returns.
package struct PendingChanges<Value: Listed>: Sendable {
    private typealias Key = Value.Key

    private enum Item {
        case value(Key)
        case settled
        case backend
        case degraded(String)
    }

    /// A value that is mostly the same in all places of a slot, and large.
    private final class Shared: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private struct Slot {
        /// What the subscriber saw; nil: nothing, or that it is gone.
        var seen: Shared?
        /// What is true.
        var current: Shared?
        /// What was known last, for reporting the end.
        var last: Shared
        /// When it may be reported again.
        var notBefore: Duration?
        /// It has a place in the queue or is deferred.
        var isQueued = false

        var isPending: Bool { seen !== current && seen?.value != current?.value }

        /// Without it the subscriber would see too much.
        func isNeeded(_ now: Duration) -> Bool {
            seen != nil || current != nil || notBefore.map { now < $0 } == true
        }
    }

    private static var noticeLimit: Int { 8 }
    private static var backendLimit: Int { 4 }

    private let interval: Duration
    private let repeatsSettled: Bool
    private var hasSettled = false
    private var slots: [Key: Slot] = [:]
    private var queue: [Item] = []
    private var head = 0
    private var deferred = DeadlineTable<Key>()
    private var backendStates: [BackendState] = []
    private var backendItems = 0
    private var notices = 0
    private var tidyAbove = 128

    /// - Parameter repeatsSettled: whether `settled` comes again after the backend came back.
    package init(interval: Duration = .seconds(1), repeatsSettled: Bool = false) {
        self.interval = interval
        self.repeatsSettled = repeatsSettled
    }

    /// When something that is held back for its rate may be reported.
    package var nextDeadline: Duration? { deferred.next }

    /// Things that are kept: pending, reported and present, or lost less than an interval ago.
    package var count: Int { slots.count }
    /// Places in the queue, also those that have become void.
    package var queueLength: Int { queue.count - head }

    package mutating func apply(_ change: Change<Value>, now: Duration) {
        switch change {
        case .found(let value), .changed(let value): became(value.key, Shared(value), isThere: true)
        case .lost(let value): became(value.key, Shared(value), isThere: false)
        case .settled: settled()
        case .backend(let state): append(state)
        case .degraded(let text):
            guard notices < Self.noticeLimit else { return }
            notices += 1
            queue.append(.degraded(text))
        }
        tidy(now)
    }

    /// The next change that is ready now, or nil.
    package mutating func next(now: Duration) -> Change<Value>? {
        for key in deferred.due(now) {
            queue.append(.value(key))
        }
        while head < queue.count {
            let item = queue[head]
            head += 1
            if let change = take(item, now: now) {
                tidy(now)
                return change
            }
        }
        tidy(now)
        return nil
    }
}

extension PendingChanges {
    private mutating func became(_ key: Key, _ value: Shared, isThere: Bool) {
        var slot = slots[key] ?? Slot(last: value)
        slot.current = isThere ? value : nil
        slot.last = value
        if slot.isPending && !slot.isQueued {
            slot.isQueued = true
            queue.append(.value(key))
        } else if slot.seen != nil && !isThere && deferred.contains(key) {
            // An end is reported at once, even when the change before it had to wait.
            deferred.set(key, to: nil)
            queue.append(.value(key))
        }
        slots[key] = slot
    }

    private mutating func settled() {
        guard repeatsSettled || !hasSettled else { return }
        hasSettled = true
        // Of several that were not taken, the last is true.
        if let old = queue[head...].firstIndex(where: { if case .settled = $0 { true } else { false } }) {
            queue.remove(at: old)
        }
        queue.append(.settled)
    }

    private mutating func append(_ state: BackendState) {
        // The states alternate; of many that were not taken, the first and the last say it all.
        if backendStates.count >= Self.backendLimit { backendStates.removeLast(2) }
        backendStates.append(state)
        guard backendItems < backendStates.count else { return }
        backendItems += 1
        queue.append(.backend)
    }

    private mutating func take(_ item: Item, now: Duration) -> Change<Value>? {
        switch item {
        case .value(let key): return take(key, now: now)
        case .settled: return takeSettled()
        case .backend:
            backendItems -= 1
            return backendStates.isEmpty ? nil : .backend(backendStates.removeFirst())
        case .degraded(let text):
            notices -= 1
            return .degraded(text)
        }
    }

    private mutating func take(_ key: Key, now: Duration) -> Change<Value>? {
        guard var slot = slots[key] else { return nil }
        guard slot.isPending else {
            slot.isQueued = false
            slots[key] = slot.isNeeded(now) ? slot : nil
            return nil
        }
        if let notBefore = slot.notBefore, now < notBefore, slot.current != nil {
            deferred.set(key, to: notBefore)
            return nil
        }
        slot.isQueued = false
        defer {
            slot.seen = slot.current
            slots[key] = slot
        }
        switch (slot.seen, slot.current) {
        case (nil, let value?):
            slot.notBefore = nil
            return .found(value.value)
        case (_, let value?):
            slot.notBefore = now + interval
            return .changed(value.value)
        default:
            slot.notBefore = now + interval
            return .lost(slot.last.value)
        }
    }

    /// Everything found before must be reported before, even what its rate held back.
    private mutating func takeSettled() -> Change<Value>? {
        let early = deferred.keys.filter { slots[$0]?.seen == nil && slots[$0]?.current != nil }
        guard !early.isEmpty else { return .settled }
        for key in early {
            deferred.set(key, to: nil)
            slots[key]?.notBefore = nil
        }
        queue.replaceSubrange(..<head, with: [])
        head = 0
        queue.insert(contentsOf: early.map { .value($0) } + [.settled], at: 0)
        return nil
    }

    /// Forgets what is void: ends that need no report, and queue places of what has become nothing.
    ///
    /// Done when there is twice as much as after the last time, so that it costs nothing on the average.
    private mutating func tidy(_ now: Duration) {
        guard slots.count + queue.count > tidyAbove else { return }
        let kept = queue[head...].filter { item in
            guard case .value(let key) = item else { return true }
            guard let slot = slots[key], slot.isPending else {
                slots[key]?.isQueued = false
                return false
            }
            return true
        }
        queue = Array(kept)
        head = 0
        for key in deferred.keys where slots[key]?.isPending != true {
            deferred.set(key, to: nil)
            slots[key]?.isQueued = false
        }
        slots = slots.filter { $0.value.isQueued || $0.value.isNeeded(now) }
        tidyAbove = 2 * (slots.count + queue.count) + 128
    }
}
