import DNSSD

/// What a subscriber has yet to see: the difference between what it last saw and the current state.
///
/// A difference, unlike a queue of events, is bounded by what exists rather than by traffic: found and lost again is
/// nothing; lost and found again is a change, or nothing. Each value changes, or returns, at most once per interval.
package struct PendingChanges<Value: Listed>: Sendable {
    private typealias Key = Value.Key

    private enum Item {
        case value(Key)
        case settled
        case backend
        case degraded(String)
    }

    /// A large value that is usually the same in all fields of a slot.
    private final class Shared: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private struct Slot {
        /// What the subscriber last saw; nil if nothing, or if it saw the end.
        var seen: Shared?
        /// The current value.
        var current: Shared?
        /// The last known value, for reporting the end.
        var last: Shared
        /// When it may be reported again.
        var notBefore: Duration?
        /// It is queued or deferred.
        var isQueued = false

        var isPending: Bool { seen !== current && seen?.value != current?.value }

        /// Forgetting it would lose an end, or let changes exceed the rate.
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

    /// - Parameter repeatsSettled: whether to repeat `settled` after the backend has come back.
    package init(interval: Duration = .seconds(1), repeatsSettled: Bool = false) {
        self.interval = interval
        self.repeatsSettled = repeatsSettled
    }

    /// When the next value deferred by the interval may be reported.
    package var nextDeadline: Duration? { deferred.next }

    /// Values kept: pending, reported and present, or gone for less than an interval.
    package var count: Int { slots.count }
    /// Places in the queue, void ones included.
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
            // Reports an end at once, even if the change before it had to wait.
            deferred.set(key, to: nil)
            queue.append(.value(key))
        }
        slots[key] = slot
    }

    private mutating func settled() {
        guard repeatsSettled || !hasSettled else { return }
        hasSettled = true
        // Of several not yet taken, only the last is true.
        if let old = queue[head...].firstIndex(where: { if case .settled = $0 { true } else { false } }) {
            queue.remove(at: old)
        }
        queue.append(.settled)
    }

    private mutating func append(_ state: BackendState) {
        // States alternate: of many not yet taken, the first and the last suffice.
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

    /// Everything found before must be reported first, even what was deferred.
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

    /// Forgets void entries: ends that need no report, and queue places without a change.
    ///
    /// Runs when their number has doubled since the last time, so its amortized cost is constant.
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
