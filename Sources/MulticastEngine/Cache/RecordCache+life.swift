package import DNSMessage
import DNSSD
import Discovery
import WireNames

// The life of one record, and the room it takes.

extension RecordCache {
    mutating func refresh(_ slot: Int, _ ttl: UInt32, _ isOwn: Bool, at now: Duration) {
        store[slot]?.renew(ttl: ttl, isOwn: isOwn, at: now)
        queue(slot)
    }

    /// Processes a goodbye.
    mutating func withdraw(_ slot: Int, at now: Duration) {
        end(slot, at: now + Self.ending)
        guard let key = store[slot]?.key, key.type == .a || key.type == .aaaa else { return }
        farewells.note(key.name, at: now)
    }

    mutating func end(_ slot: Int, at time: Duration) {
        if store[slot]?.end(at: time) == true { queue(slot) }
    }

    /// Ends the records of a key, except those received in the last second: they are part of the same announcement, or
    /// come from another responder (RFC 6762 §10.2).
    mutating func flush(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key) {
            guard let cached = store[slot], now - cached.received > .seconds(1) else { continue }
            end(slot, at: now + Self.ending)
        }
    }

    mutating func insert(
        _ key: RecordKey, _ data: RecordData, _ ttl: UInt32, _ isOwn: Bool, at now: Duration,
        _ changes: inout [Change]
    ) {
        let needed = RecordStore.size(key, data)
        guard hasPlace(for: key, data, &changes) else { return }
        if count >= limits.records || store.size + needed > limits.bytes { makeRoom(at: now, &changes) }
        guard count < limits.records, store.size + needed <= limits.bytes else {
            isFull = true
            return
        }
        var record = CachedRecord(key, data, ttl: ttl, at: now)
        record.isOwn = isOwn
        let slot = store.insert(record)
        queue(slot)
        changes.append(.added(key, data))
    }

    // MARK: Room

    /// Whether a name may have another record of this type. A late record displaces no others, except that neighbours'
    /// addresses displace foreign ones.
    mutating func hasPlace(for key: RecordKey, _ data: RecordData, _ changes: inout [Change]) -> Bool {
        if key.type.isShared {
            guard store.count(of: key) >= limits.sharedRecords else { return true }
            fullLists.insert(key)
            isFull = true
            return false
        }
        guard store.count(of: key) >= limits.uniqueRecords else { return true }
        guard isOfNeighbour(data) else { return false }
        let strangers = store.slots(of: key).compactMap { slot in
            store[slot].flatMap { isOfNeighbour($0.data) ? nil : (slot: slot, since: $0.firstReceived) }
        }
        guard let newest = strangers.max(by: { $0.since < $1.since })?.slot, let cached = store.remove(newest) else {
            return false
        }
        changes.append(.removed(cached.key, cached.data))
        return true
    }

    /// Returns whether the data is an address that certainly belongs to this link.
    package func isOfNeighbour(_ data: RecordData) -> Bool {
        IPAddress(data, scope: 0).map(isOfNeighbour) ?? false
    }

    /// Returns whether an address certainly belongs to this link; its scope is ignored.
    func isOfNeighbour(_ address: IPAddress) -> Bool {
        address.isLinkLocal || neighbours.contains { $0.contains(address) }
    }

    /// Forgets records that no one watches, the oldest first: an eighth of all, so that this does not happen for each
    /// record.
    mutating func makeRoom(at now: Duration, _ changes: inout [Change]) {
        if let lastSweep, now - lastSweep < Self.sweepInterval { return }
        lastSweep = now
        let unwatched = store.indices.compactMap { slot in
            store[slot].flatMap { watches[$0.key] == nil ? (slot: slot, received: $0.received) : nil }
        }
        for (slot, _) in unwatched.sorted(by: { $0.received < $1.received }).prefix(max(1, limits.records / 8)) {
            guard let cached = store.remove(slot) else { continue }
            changes.append(.removed(cached.key, cached.data))
        }
    }

    /// Whether there is so much room that the cache will not be full again at once.
    var hasRoom: Bool {
        mutating get {
            fullLists = fullLists.filter { store.count(of: $0) >= limits.sharedRecords / 8 * 7 }
            return fullLists.isEmpty && count < limits.records / 8 * 7 && store.size < limits.bytes / 8 * 7
        }
    }

    // MARK: Deadlines

    func refreshPoint(of slot: Int) -> Duration? {
        // The same for each call, so that a point does not move before it is reached.
        var mixed = random &+ UInt64(truncatingIfNeeded: slot) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 31) &* 0xBF58_476D_1CE4_E5B9
        return store[slot]?.refreshPoint(laterBy: Int(mixed >> 33) % 21)
    }

    /// Queues a record at its next deadline. An item that comes too early is queued again.
    mutating func queue(_ slot: Int) {
        guard let cached = store[slot] else { return }
        let next = Moment(refreshPoint(of: slot).map { min($0, cached.expires) } ?? cached.expires)
        if cached.isQueued, cached.queued <= next { return }
        store[slot]?.isQueued = true
        store[slot]?.queued = next
        heap.insert(DeadlineHeap.Item(deadline: next, slot: slot))
        if heap.count > 2 * count + 64 { dropOutdatedItems() }
    }

    private mutating func dropOutdatedItems() {
        heap = DeadlineHeap(
            store.indices.compactMap { slot in
                store[slot].map { DeadlineHeap.Item(deadline: $0.queued, slot: slot) }
            })
    }
}
