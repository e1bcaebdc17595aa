import DNSMessage
import DNSSD
import Discovery

// The life of one record.

extension RecordCache {
    mutating func refresh(
        _ slot: Int, _ ttl: UInt32, _ isOwn: Bool, over family: IPAddress.Family?, at now: Duration,
        _ changes: inout [Change]
    ) {
        let news = store[slot]?.life.renew(ttl: ttl, over: family, isOwn: isOwn, at: now)
        queue(slot)
        guard let news, news.isNew || news.lapsed != nil, let cached = store[slot] else { return }
        if let family, news.isNew { changes.append(.heard(cached.key, cached.data, over: family)) }
        if let lapsed = news.lapsed { changes.append(.unheard(cached.key, cached.data, over: lapsed)) }
    }

    /// Processes what one asker was told: a record may last longer anyway, and was heard.
    mutating func prolong(
        _ slot: Int, _ ttl: UInt32, _ isOwn: Bool, over family: IPAddress.Family?, at now: Duration,
        _ changes: inout [Change]
    ) {
        guard ttl > 0, let cached = store[slot] else { return }
        if cached.life.expires < now + .seconds(ttl) {
            return refresh(slot, ttl, isOwn, over: family, at: now, &changes)
        }
        guard let family, !cached.life.hearing.includes(family) else { return }
        store[slot]?.life.hear(over: family, at: now)
        changes.append(.heard(cached.key, cached.data, over: family))
    }

    /// Processes a goodbye.
    mutating func withdraw(_ slot: Int, at now: Duration) {
        end(slot, at: now + Self.ending)
        guard let key = store[slot]?.key, key.type == .a || key.type == .aaaa else { return }
        farewells.note(key.name, at: now)
    }

    mutating func end(_ slot: Int, at time: Duration) {
        if store[slot]?.life.end(at: time) == true { queue(slot) }
    }

    /// Ends the records of a key, except those received in the last second: they are part of the same announcement, or
    /// come from another responder (RFC 6762 §10.2).
    mutating func flush(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key, where: { now - $0.received > .seconds(1) }) {
            end(slot, at: now + Self.ending)
        }
    }

    // MARK: Deadlines

    func refreshPoint(of slot: Int) -> Duration? {
        // The same for each call, so that a point does not move before it is reached.
        var mixed = random &+ UInt64(truncatingIfNeeded: slot) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 31) &* 0xBF58_476D_1CE4_E5B9
        return store[slot]?.life.refreshPoint(laterBy: Int(mixed >> 33) % 21)
    }

    /// Queues a record at its next deadline. An item that comes too early is queued again.
    mutating func queue(_ slot: Int) {
        guard let life = store[slot]?.life else { return }
        let next = Moment(refreshPoint(of: slot).map { min($0, life.expires) } ?? life.expires)
        if life.queued != .never, life.queued <= next { return }
        store[slot]?.life.queued = next
        heap.insert(DeadlineHeap.Item(deadline: next, slot: slot))
        if heap.count > 2 * count + 64 { dropOutdatedItems() }
    }

    private mutating func dropOutdatedItems() {
        heap = DeadlineHeap(
            store.indices.compactMap { slot in
                store[slot].map { DeadlineHeap.Item(deadline: $0.life.queued, slot: slot) }
            })
    }
}

extension RecordCache.Change {
    /// The record's name and type.
    var key: RecordKey {
        switch self {
        case .added(let key, _), .removed(let key, _), .heard(let key, _, _), .unheard(let key, _, _): key
        }
    }

    /// What came; nil for what went.
    var arrival: RecordData? {
        switch self {
        case .added(_, let data), .heard(_, let data, _): data
        case .removed, .unheard: nil
        }
    }

    /// What it is for whoever sees the cache as it is in view; nil for nothing.
    func parts(in cache: RecordCache) -> (key: RecordKey, data: RecordData, isAdded: Bool)? {
        switch self {
        case .added(let key, let data): cache.view == nil || cache.has(key, data) ? (key, data, true) : nil
        case .removed(let key, let data): (key, data, false)
        case .heard(let key, let data, let family): family == cache.view ? (key, data, true) : nil
        case .unheard(let key, let data, let family): family == cache.view ? (key, data, false) : nil
        }
    }
}

extension RecordType {
    /// Types 128 to 255 are for questions and signatures, and never cached (RFC 6895 §3.1); OPT belongs to its message.
    var isData: Bool { rawValue != 0 && !(128...255 ~= rawValue) && self != .opt }

    /// Several hosts answer for one name, each with its own records: the cache-flush bit has no meaning (RFC 6762
    /// §10.2).
    var isShared: Bool { self == .ptr }
}
