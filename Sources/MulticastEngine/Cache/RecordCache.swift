package import DNSMessage
import DNSSD
package import Discovery

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
        /// The same where many do: a list leaves room for what its services are made of.
        package var sharedRecords = 65_536
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
    static let ending = Duration.seconds(1)
    /// How long a record in doubt is waited for (RFC 6762 §10.4 and §10.5).
    static let doubt = Duration.seconds(10)
    /// So many records can be asked for in a second, and their answers read.
    private static let recordsPerSecond = 2000
    /// Questions without an answer that put a record in doubt (RFC 6762 §10.5).
    private static let unansweredQuestions = 2
    /// A question for more records than this puts none in doubt: it would be work for whoever asks.
    private static let mostInDoubt = 1024
    /// How often, at most, room is looked for where there was none.
    static let sweepInterval = Duration.seconds(1)

    let limits: Limits
    var store = RecordStore()
    var watches: [RecordKey: Int32] = [:]
    var heap = DeadlineHeap()
    var random: UInt64
    var lastSweep: Duration?
    /// Hosts that took addresses back: each goes, or its responder starts anew.
    package internal(set) var farewells = RecentNames()
    /// Services that somebody probes for, and is about to announce.
    package private(set) var probes = RecentNames()

    /// Lists that are longer than what is kept of one.
    var fullLists: Set<RecordKey> = []

    /// The blocks of addresses that this machine has on the link: who is in them is there rather than who is not.
    package var neighbours: [CIDR] = []
    /// Records were left out for want of room, and there is still little.
    package internal(set) var isFull = false
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
    package func records(_ key: RecordKey) -> [CachedRecord] {
        var records: [CachedRecord] = []
        store.look(key) { record in
            records.append(record)
            return false
        }
        return records
    }

    /// The first so many of a key that are wanted; there may be thousands.
    package func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData] {
        var found: [RecordData] = []
        store.look(key) { record in
            if isWanted(record.data) { found.append(record.data) }
            return found.count >= limit
        }
        return found
    }

    /// A record is there.
    package func has(_ key: RecordKey, _ data: RecordData) -> Bool { store.slot(of: key, data) != nil }

    /// What need not be answered: less than half its life is over (RFC 6762 §7.1).
    package func knownAnswers(_ key: RecordKey, at now: Duration) -> [ResourceRecord] {
        var known: [ResourceRecord] = []
        store.look(key) { record in
            if !record.isStale(at: now) { known.append(record.record(at: now)) }
            return false
        }
        return known
    }

    /// A record is known, and less than half its life is over.
    package func isFresh(_ key: RecordKey, _ data: RecordData, at now: Duration) -> Bool {
        store.slot(of: key, data).flatMap { store[$0] }.map { !$0.isStale(at: now) } ?? false
    }

    /// This machine has said a record.
    package func isOwn(_ key: RecordKey, _ data: RecordData) -> Bool {
        store.slot(of: key, data).flatMap { store[$0]?.isOwn } ?? false
    }

    /// There are records of a key, and they are not ending.
    package func isAnswered(_ key: RecordKey) -> Bool {
        var isAnswered = false
        store.look(key) { record in
            isAnswered = !record.isEnding
            return isAnswered
        }
        return isAnswered
    }

    /// A host has said that a name has no records of a type (RFC 6762 §6.1), and nothing since says that it has.
    package func isDenied(_ key: RecordKey) -> Bool {
        guard store.count(of: key) == 0 else { return false }
        return records(RecordKey(key.name, .nsec)).contains {
            guard case .nsec(_, let types) = $0.data else { return false }
            return !$0.isEnding && !types.contains(key.type)
        }
    }

    // MARK: Watching

    /// The records of a key are kept up to date: `advance(to:)` says when to ask for them again, and they are the last to be forgotten.
    package mutating func watch(_ key: RecordKey) { watches[key, default: 0] &+= 1 }

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
        let keys = types.map { RecordKey(question.name, $0) }
        guard 1...Self.mostInDoubt ~= keys.reduce(0, { $0 + store.count(of: $1) }) else { return }
        let known = Set(knownAnswers.lazy.filter { $0.name == question.name }.map(\.data))
        for slot in keys.flatMap({ store.slots(of: $0) }) {
            guard let cached = store[slot], !known.contains(cached.data) else { continue }
            store[slot]?.wasMissed(at: now)
            guard let count = store[slot]?.unanswered, count > cached.unanswered else { continue }
            if count >= Self.unansweredQuestions { end(slot, at: now + Self.doubt) }
        }
    }

    /// A probe was heard (RFC 6762 §8.1): what its authority section proposes.
    package mutating func heardProbe(for records: some Sequence<ResourceRecord>, at now: Duration) {
        for record in records where record.type == .srv && store.count(of: RecordKey(record.name, .srv)) > 0 {
            probes.note(record.name, at: now)
        }
    }

    /// Records are in doubt: their service could not be reached (RFC 6762 §10.4). The caller asks for them; without an answer they end after 10 s.
    package mutating func reconfirm(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key) { end(slot, at: now + Self.doubt) }
    }

    /// The machine slept, or the link was away: everything is in doubt, and for longer where it is so much that asking takes its time. So is
    /// what ran out meanwhile: nobody could ask for it.
    package mutating func reconfirmAll(at now: Duration) {
        let end = now + Self.doubt + .seconds(count / Self.recordsPerSecond)
        for slot in store.indices where store[slot] != nil {
            store[slot]?.last(until: end, at: now)
            self.end(slot, at: end)
        }
    }

    /// When `advance(to:)` has something to do; nil when never.
    package var deadline: Duration? { heap.first?.deadline.time }

    /// Time has passed.
    /// - Returns: records that ended, and keys that are watched and due to be asked for.
    package mutating func advance(to now: Duration) -> (changes: [Change], refreshes: Set<RecordKey>) {
        var changes: [Change] = []
        var refreshes: Set<RecordKey> = []
        while let item = heap.first, item.deadline.time <= now {
            _ = heap.popFirst()
            guard let cached = store[item.slot], cached.isQueued, cached.queued == item.deadline else { continue }
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
        if isFull { isFull = !hasRoom }
        return (changes, refreshes)
    }
}
