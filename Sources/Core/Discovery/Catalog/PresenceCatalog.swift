package import DNSSD

/// A service type or domain, which is merely present or absent.
package struct Listing<Key: Hashable & Sendable>: Listed {
    package let key: Key
    /// Where it was seen when it was found.
    package let origins: [Origin]

    package init(key: Key, origins: [Origin]) {
        self.key = key
        self.origins = origins
    }

    /// A report includes its origins, but a change of them is no reason to report it again.
    package static func == (one: Self, other: Self) -> Bool { one.key == other.key }
    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The state of one query for types or domains. Holds back removals like those of services.
package struct PresenceCatalog<Key: Hashable & Sendable>: FactCatalog {
    package typealias Fact = PresenceFact<Key>
    package typealias Value = Listing<Key>

    private struct Entry {
        let number: UInt64
        var presence = Presence<Origin>()
        /// When to report it; nil once it has been reported.
        var tellAt: Duration?
        var told: Listing<Key>?
    }

    private let limits: DiscoveryLimits
    private var entries: [Key: Entry] = [:]
    private var lastNumber: UInt64 = 0
    private var deadlines = DeadlineTable<Key>()
    private var notices: Notices
    private var watch = BackendWatch()
    package private(set) var isSettled = false

    package init(limits: DiscoveryLimits = DiscoveryLimits()) {
        self.limits = limits
        notices = Notices(interval: limits.noticeInterval)
    }

    package var backend: BackendState? { watch.state }
    package var nextDeadline: Duration? { deadlines.next }
    package var snapshot: [Value] { entries.values.sorted { $0.number < $1.number }.compactMap(\.told) }

    package mutating func apply(_ fact: Fact, now: Duration) -> [Change<Value>] {
        let changes = tick(now: now)
        switch fact {
        case .appeared(let key, let origin): return changes + appeared(key, origin, now: now)
        case .disappeared(let key, let origin):
            return changes + disappeared(key, origin, hold: limits.removalHold, now: now)
        case .hidden(let key, let origin):
            return changes + disappeared(key, origin, hold: limits.linkHold, now: now)
        case .gone(let key):
            guard let entry = entries.removeValue(forKey: key) else { return changes }
            deadlines.set(key, to: nil)
            return changes + (entry.told.map { [.lost($0)] } ?? [])
        case .listed: return changes + listed(now: now)
        case .backend(let state):
            guard let news = watch.became(state) else { return changes }
            if !watch.isUp { for key in entries.keys { entries[key]?.presence.backendLost() } }
            if news == .recovered {
                isSettled = false
                // Reports again what is still omitted.
                notices.renew()
            }
            return changes + [.backend(news)] + evaluate(Array(entries.keys), now: now)
        case .degraded(let text): return changes + degraded(text, text, now: now)
        }
    }

    package mutating func apply(_ facts: [Fact], now: Duration) -> [Change<Value>] {
        facts.flatMap { apply($0, now: now) }
    }

    package mutating func tick(now: Duration) -> [Change<Value>] {
        guard let next = deadlines.next, next <= now else { return [] }
        return evaluate(deadlines.due(now), now: now)
    }

    private mutating func appeared(_ key: Key, _ origin: Origin, now: Duration) -> [Change<Value>] {
        if entries[key] == nil {
            guard entries.count < limits.services else {
                return degraded("entries", "more than \(limits.services): further ones are left out", now: now)
            }
            lastNumber += 1
            entries[key] = Entry(number: lastNumber, tellAt: now + limits.sightingWindow)
        }
        entries[key]?.presence.appeared(origin)
        return evaluate([key], now: now)
    }

    private mutating func disappeared(
        _ key: Key, _ origin: Origin, hold: Duration, now: Duration
    ) -> [Change<Value>] {
        guard watch.isUp else { return [] }
        entries[key]?.presence.disappeared(origin, holdUntil: now + hold)
        return evaluate([key], now: now)
    }

    private mutating func listed(now: Duration) -> [Change<Value>] {
        for key in entries.keys {
            entries[key]?.presence.listed(holdUntil: now + limits.removalHold)
            if entries[key]?.tellAt != nil { entries[key]?.tellAt = now }
        }
        let changes = evaluate(Array(entries.keys), now: now)
        guard !isSettled else { return changes }
        isSettled = true
        return changes + [.settled]
    }

    private mutating func degraded(_ kind: String, _ text: String, now: Duration) -> [Change<Value>] {
        notices.shouldTell(kind, now: now) ? [.degraded(text)] : []
    }

    private mutating func evaluate(_ keys: [Key], now: Duration) -> [Change<Value>] {
        var changes: [Change<Value>] = []
        let entriesInOrder = keys.compactMap { key in entries[key].map { (key: key, entry: $0) } }
            .sorted { $0.entry.number < $1.entry.number }
        for (key, old) in entriesInOrder {
            var entry = old
            entry.presence.expire(now)
            guard !entry.presence.isEmpty else {
                entries[key] = nil
                deadlines.set(key, to: nil)
                if let told = entry.told { changes.append(.lost(told)) }
                continue
            }
            if let tellAt = entry.tellAt, tellAt <= now, entry.presence.isLive {
                entry.tellAt = nil
                let listing = Listing(key: key, origins: entry.presence.paths)
                entry.told = listing
                changes.append(.found(listing))
            }
            entries[key] = entry
            let waiting = entry.presence.isLive ? entry.tellAt : nil
            deadlines.set(key, to: earlier(waiting, entry.presence.nextDeadline))
        }
        return changes
    }
}

/// A value that takes an engine's facts and the time, and returns changes.
package protocol FactCatalog: Sendable {
    associatedtype Fact: Sendable
    associatedtype Value: Listed

    /// Applies facts of one moment, in their order.
    mutating func apply(_ facts: [Fact], now: Duration) -> [Change<Value>]
    /// Returns changes caused by time alone.
    mutating func tick(now: Duration) -> [Change<Value>]
    /// When to call `tick`; nil if only a fact can change anything.
    var nextDeadline: Duration? { get }
    /// Everything reported that still holds, in the order found.
    var snapshot: [Value] { get }
    /// `settled` was reported and still holds: the backend has not come back since without listing again.
    var isSettled: Bool { get }
    /// The last reported state of the backend; nil before the first.
    var backend: BackendState? { get }
}

/// Limits notices of omissions to one of each kind per interval.
package struct Notices: Sendable {
    /// The engine's texts count as kinds; more than this many within one interval are dropped.
    private static let kinds = 16

    private let interval: Duration
    private var told: [String: Duration] = [:]

    package init(interval: Duration) { self.interval = interval }

    /// Whether to report a notice now.
    package mutating func shouldTell(_ kind: String, now: Duration) -> Bool {
        if let last = told[kind], now < last + interval { return false }
        if told.count >= Self.kinds {
            told = told.filter { now < $0.value + interval }
            guard told.count < Self.kinds else { return false }
        }
        told[kind] = now
        return true
    }

    /// What was told is told again.
    package mutating func renew() { told = [:] }
}
