package import DNSMessage

/// What the hosts of one link have said, over IPv4 and IPv6 together: received, refreshed, ended, and forgotten by the rules of RFC 6762 §10.
///
/// A value that is told an event and a time, and answers with what changed. Times are those of a clock that goes on while the machine sleeps
/// (CLOCK_BOOTTIME), and never go back.
package struct RecordCache: Sendable {
    /// How much is kept.
    package struct Limits: Sendable {
        /// Records.
        package var records = 131_072
        /// Bytes of names and data.
        package var bytes = 32 << 20
        /// Records of one name and type, where only one host answers for them.
        package var uniqueRecords = 64
        /// The longest life of a record, in seconds: what says more is believed for so long.
        package var ttl: UInt32 = 86_400

        package init() {}
    }

    /// What came of the records.
    package enum Change: Hashable, Sendable {
        case added(RecordKey, RecordData)
        case removed(RecordKey, RecordData)
    }

    /// A goodbye and a cache-flush end a record after a second, in which it may be announced again (RFC 6762 §10.1 and §10.2).
    private static let ending = Duration.seconds(1)
    /// How long a record in doubt is waited for (RFC 6762 §10.4 and §10.5).
    private static let doubt = Duration.seconds(10)
    /// Questions without an answer that put a record in doubt (RFC 6762 §10.5).
    private static let unansweredQuestions = 2
    /// A question for more records than this puts none in doubt: it would be work for whoever asks.
    private static let mostInDoubt = 1024
    /// Hosts of which it is remembered that they left.
    private static let farewells = 1024
    /// How often, at most, room is looked for where there was none.
    private static let sweepInterval = Duration.seconds(1)

    private let limits: Limits
    private var store = RecordStore()
    private var watches: [RecordKey: Int] = [:]
    private var heap = DeadlineHeap()
    private var generation: UInt64 = 0
    private var random: UInt64
    private var lastSweep: Duration?
    /// Hosts that took addresses back, and when.
    private var farewells: [DomainName: Duration] = [:]

    /// Records were left out for want of room, and there is still little.
    package private(set) var isFull = false
    package var count: Int { store.count }
    /// Deadlines that are kept, outdated ones among them.
    package var queuedDeadlines: Int { heap.count }

    /// An empty cache.
    /// - Parameter seed: spreads refreshes of equal records over time; any number.
    package init(limits: Limits = Limits(), seed: UInt64) {
        self.limits = limits
        random = seed
    }

    // MARK: Reading

    /// The records of a key that have not ended.
    package func records(_ key: RecordKey) -> [CachedRecord] { store.slots(of: key).compactMap { store[$0] } }

    /// What need not be answered: less than half its life is over (RFC 6762 §7.1).
    package func knownAnswers(_ key: RecordKey, at now: Duration) -> [ResourceRecord] {
        records(key).filter { !$0.isStale(at: now) }.map { $0.record(at: now) }
    }

    /// A record is known, and less than half its life is over.
    package func isFresh(_ key: RecordKey, _ data: RecordData, at now: Duration) -> Bool {
        store.slot(of: key, data).flatMap { store[$0] }.map { !$0.isStale(at: now) } ?? false
    }

    /// This machine has said a record.
    package func isOwn(_ key: RecordKey, _ data: RecordData) -> Bool {
        store.slot(of: key, data).flatMap { store[$0]?.isOwn } ?? false
    }

    /// A host has taken addresses back lately: it goes, or its responder starts anew.
    package func hasLeft(_ host: DomainName, since time: Duration) -> Bool {
        farewells[host].map { $0 >= time } ?? false
    }

    /// There are records of a key, and they are not ending.
    package func isAnswered(_ key: RecordKey) -> Bool {
        store.slots(of: key).contains { store[$0]?.isEnding == false }
    }

    /// A host has said that a name has no records of a type (RFC 6762 §6.1), and nothing since says that it has.
    package func isDenied(_ key: RecordKey) -> Bool {
        guard store.slots(of: key).isEmpty else { return false }
        return records(RecordKey(key.name, .nsec)).contains {
            guard case .nsec(_, let types) = $0.data else { return false }
            return !$0.isEnding && !types.contains(key.type)
        }
    }

    // MARK: Watching

    /// The records of a key are kept up to date: `advance(to:)` says when to ask for them again, and they are the last to be forgotten.
    package mutating func watch(_ key: RecordKey) { watches[key, default: 0] += 1 }

    /// Ends one `watch`.
    package mutating func unwatch(_ key: RecordKey) {
        guard let count = watches[key] else { return }
        watches[key] = count > 1 ? count - 1 : nil
    }

    // MARK: Events

    /// A response was received: its answers and additional records.
    /// - Parameter isOwn: this machine sent it.
    package mutating func receive(
        _ records: some Sequence<ResourceRecord>, isOwn: Bool = false, at now: Duration
    ) -> [Change] {
        var changes: [Change] = []
        var flushed: Set<RecordKey> = []
        for record in records where record.recordClass == .internet && record.type.isData {
            let key = RecordKey(record.name, record.type)
            if record.flushesCache, !record.type.isShared { flushed.insert(key) }
            // RFC 2181 §8: a TTL with its top bit set is zero.
            let ttl = record.ttl >> 31 == 1 ? 0 : min(record.ttl, limits.ttl)
            if let slot = store.slot(of: key, record.data) {
                if ttl == 0 { withdraw(slot, at: now) } else { refresh(slot, ttl, isOwn, at: now) }
            } else if ttl > 0 {
                insert(key, record.data, ttl, isOwn, at: now, &changes)
            }
        }
        for key in flushed { flush(key, at: now) }
        return changes
    }

    /// Someone else's question was heard, which is to be answered by multicast (RFC 6762 §10.5).
    ///
    /// Not for questions that want a unicast answer, nor for those of a message with TC, whose known answers are not all there.
    package mutating func heard(_ question: Question, knownAnswers: [ResourceRecord], at now: Duration) {
        let types: [RecordType] = question.type == .any ? [.a, .aaaa, .srv, .txt, .ptr] : [question.type]
        let slots = types.flatMap { store.slots(of: RecordKey(question.name, $0)) }
        guard !slots.isEmpty, slots.count <= Self.mostInDoubt else { return }
        let known = Set(knownAnswers.lazy.filter { $0.name == question.name }.map(\.data))
        for slot in slots { missed(slot, known, at: now) }
    }

    private mutating func missed(_ slot: Int, _ known: Set<RecordData>, at now: Duration) {
        guard let cached = store[slot], !known.contains(cached.data),
            cached.unanswered == 0 || now - cached.lastUnanswered > .seconds(1)
        else { return }
        store[slot]?.unanswered += 1
        store[slot]?.lastUnanswered = now
        if cached.unanswered + 1 >= Self.unansweredQuestions { end(slot, at: now + Self.doubt) }
    }

    /// Records are in doubt: a dial failed (RFC 6762 §10.4). The caller asks for them; without an answer they end after 10 s.
    package mutating func reconfirm(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key) { end(slot, at: now + Self.doubt) }
    }

    /// The machine slept, or the link was away: everything is in doubt.
    package mutating func reconfirmAll(at now: Duration) {
        for slot in store.indices where store[slot] != nil { end(slot, at: now + Self.doubt) }
    }

    /// When `advance(to:)` has something to do; nil when never.
    package var deadline: Duration? { heap.first?.deadline }

    /// Time has passed.
    /// - Returns: records that ended, and keys that are watched and due to be asked for.
    package mutating func advance(to now: Duration) -> (changes: [Change], refreshes: Set<RecordKey>) {
        var changes: [Change] = []
        var refreshes: Set<RecordKey> = []
        while let item = heap.first, item.deadline <= now {
            _ = heap.popFirst()
            guard let cached = store[item.slot], cached.generation == item.generation else { continue }
            store[item.slot]?.isQueued = false
            if cached.expires <= now {
                store.remove(item.slot)
                changes.append(.removed(cached.key, cached.data))
                continue
            }
            while let point = refreshPoint(of: item.slot), point <= now {
                if watches[cached.key] != nil { refreshes.insert(cached.key) }
                store[item.slot]?.refreshes += 1
            }
            queue(item.slot)
        }
        if isFull, count < limits.records / 8 * 7, store.size < limits.bytes / 8 * 7 { isFull = false }
        return (changes, refreshes)
    }
}

// MARK: - One record's life

extension RecordCache {
    private mutating func refresh(_ slot: Int, _ ttl: UInt32, _ isOwn: Bool, at now: Duration) {
        if isOwn { store[slot]?.isOwn = true }
        store[slot]?.ttl = ttl
        store[slot]?.received = now
        store[slot]?.expires = now + .seconds(ttl)
        store[slot]?.isEnding = false
        store[slot]?.refreshes = 0
        store[slot]?.unanswered = 0
        queue(slot)
    }

    /// A goodbye.
    private mutating func withdraw(_ slot: Int, at now: Duration) {
        end(slot, at: now + Self.ending)
        guard let key = store[slot]?.key, key.type == .a || key.type == .aaaa else { return }
        farewells[key.name] = now
        if farewells.count > Self.farewells, let oldest = farewells.min(by: { $0.value < $1.value })?.key {
            farewells[oldest] = nil
        }
    }

    private mutating func end(_ slot: Int, at time: Duration) {
        guard let expires = store[slot]?.expires, time < expires else { return }
        store[slot]?.expires = time
        store[slot]?.isEnding = true
        queue(slot)
    }

    /// What was received in the last second is spared: it is another packet's part, or another responder's (RFC 6762 §10.2).
    private mutating func flush(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key) {
            guard let cached = store[slot], now - cached.received > .seconds(1) else { continue }
            end(slot, at: now + Self.ending)
        }
    }

    private mutating func insert(
        _ key: RecordKey, _ data: RecordData, _ ttl: UInt32, _ isOwn: Bool, at now: Duration,
        _ changes: inout [Change]
    ) {
        let needed = RecordStore.size(key, data)
        guard key.type.isShared || store.slots(of: key).count < limits.uniqueRecords else { return }
        if count >= limits.records || store.size + needed > limits.bytes { makeRoom(at: now, &changes) }
        guard count < limits.records, store.size + needed <= limits.bytes else {
            isFull = true
            return
        }
        var record = CachedRecord(key: key, data: data, ttl: ttl, received: now, expires: now + .seconds(ttl))
        record.isOwn = isOwn
        let slot = store.insert(record)
        queue(slot)
        changes.append(.added(key, data))
    }

    // MARK: Room

    /// Forgets what no one watches, the longest known first: an eighth of all, so that it is not done for each record.
    private mutating func makeRoom(at now: Duration, _ changes: inout [Change]) {
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

    // MARK: Deadlines

    private func refreshPoint(of slot: Int) -> Duration? {
        // The same for each call, so that a point does not move while it is waited for.
        var mixed = random &+ UInt64(truncatingIfNeeded: slot) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 31) &* 0xBF58_476D_1CE4_E5B9
        return store[slot]?.refreshPoint(laterBy: Int(mixed >> 33) % 21)
    }

    /// Puts a record where its next deadline is. An item that comes too early is put in again when its time comes.
    private mutating func queue(_ slot: Int) {
        guard let cached = store[slot] else { return }
        let next = refreshPoint(of: slot).map { min($0, cached.expires) } ?? cached.expires
        if cached.isQueued, cached.queued <= next { return }
        generation &+= 1
        store[slot]?.generation = generation
        store[slot]?.isQueued = true
        store[slot]?.queued = next
        heap.insert(DeadlineHeap.Item(deadline: next, slot: slot, generation: generation))
        if heap.count > 2 * count + 64 { dropOutdatedItems() }
    }

    private mutating func dropOutdatedItems() {
        heap = DeadlineHeap(
            store.indices.compactMap { slot in
                store[slot].map {
                    DeadlineHeap.Item(deadline: $0.queued, slot: slot, generation: $0.generation)
                }
            })
    }
}
