package import DNSMessage
package import DNSSD
package import Discovery
import Records

/// The records of one link, over IPv4 and IPv6 together: received, refreshed, ended and forgotten by the rules of RFC
/// 6762 §10.
///
/// A value: receives events with their times, returns changes. Times come from a clock that goes on while the machine
/// sleeps (CLOCK_BOOTTIME), and never go back.
package struct RecordCache: Sendable {
    /// The most that the cache keeps.
    package struct Limits: Sendable {
        /// The number of records.
        package var records = 131_072
        /// The bytes of names and data.
        package var bytes = 32 << 20
        /// The number of records of one name and type that belong to a single host.
        package var uniqueRecords = 64
        /// The number of records of one name and type that many hosts share; leaves room for the services that they
        /// list.
        package var sharedRecords = 65_536
        /// The longest accepted TTL, in seconds; longer ones are shortened to it.
        package var ttl: UInt32 = 86_400

        package init() {}
    }

    /// A change of the cache.
    package enum Change: Hashable, Sendable {
        case added(RecordKey, RecordData)
        case removed(RecordKey, RecordData)
        /// A record was heard over one more family, or no longer is.
        case heard(RecordKey, RecordData, over: IPAddress.Family)
        case unheard(RecordKey, RecordData, over: IPAddress.Family)
    }

    /// A goodbye or a cache-flush ends a record after a second, in which it may be announced again (RFC 6762 §10.1 and
    /// §10.2).
    static let ending = Duration.seconds(1)
    /// How long a record in doubt may wait for an answer (RFC 6762 §10.4 and §10.5).
    static let doubt = Duration.seconds(10)
    /// The number of records that can be asked for, and whose answers can be read, in a second.
    private static let recordsPerSecond = 2000
    /// The number of unanswered questions that puts a record in doubt (RFC 6762 §10.5).
    private static let unansweredQuestions = 2
    /// The most records of a question that it can put in doubt: asking for more of them would be too much work.
    private static let mostInDoubt = 1024
    /// The most names of one source without SRV records that are listed as known answers.
    static let bareAnswers = 1024
    /// The shortest interval between two searches for room.
    static let sweepInterval = Duration.seconds(1)

    package private(set) var limits: Limits
    var store = RecordStore()
    var heap = DeadlineHeap()
    var random: UInt64
    var lastSweep: Duration?
    /// Hosts that withdrew their addresses: each is leaving, or its responder restarts.
    package internal(set) var farewells = RecentNames()
    /// Services that a host is probing for, and about to announce.
    package private(set) var probes = RecentNames()

    /// What is full, or was and has little room.
    var crowds: [Crowd.Place: Crowd] = [:]

    /// The address blocks of this machine on the link: hosts in them take precedence over others.
    package var neighbours: [CIDR] = []
    /// Whether records were left out for lack of room, and there is still little.
    package internal(set) var isFull = false
    package var count: Int { store.count }
    /// The number of deadlines in the heap, including outdated ones.
    package var queuedDeadlines: Int { heap.count }

    /// Creates an empty cache.
    /// - Parameter seed: spreads the refreshes of equal records over time; any number.
    package init(limits: Limits = Limits(), seed: UInt64) {
        self.limits = limits
        random = seed
    }
    /// The family of what reading shows, for whoever asks over one alone; nil for everything.
    package var view: IPAddress.Family?
    /// The families over which an answer has to be heard to count as known; empty for any.
    package var needed: [IPAddress.Family] = []

    // MARK: Room

    /// The bytes that it keeps, or would keep if it could.
    package var wanted: Int { isFull ? Limits().bytes : store.size }

    /// Keeps no more bytes from now on: other links' caches keep some, too.
    /// - Returns: what gave way.
    package mutating func keep(atMost bytes: Int, at now: Duration) -> [Change] {
        limits.bytes = bytes
        return store.size > bytes ? thin(to: bytes, at: now) : []
    }

    // MARK: Events

    /// Processes a response: its answers and additional records.
    /// - Parameters:
    ///   - records: the response's records.
    ///   - isOwn: whether this machine sent it.
    ///   - isOneShot: whether it answers a one-shot question (RFC 6762 §6.7). Such an answer tells neither how long a record lasts nor that
    ///     there are no others, so it adds and prolongs records but ends none.
    ///   - family: over which it came; nil for both.
    ///   - source: who sent it.
    ///   - now: the time.
    ///   - isWatched: returns whether someone wants the records of a key: they are the last to be forgotten.
    package mutating func receive(
        _ records: [ResourceRecord], isOwn: Bool = false, isOneShot: Bool = false,
        over family: IPAddress.Family? = nil, from source: PacketSource = .asked, at now: Duration,
        isWatched: (RecordKey) -> Bool
    ) -> [Change] {
        var changes: [Change] = []
        var flushed: Set<RecordKey> = []
        // What a list names comes before the list: a full list prefers names that answer.
        for isShared in [false, true] {
            for index in records.indices where records[index].type.isShared == isShared {
                let record = records[index]
                guard record.recordClass == .internet, record.type.isData else { continue }
                let key = RecordKey(record.name, record.type)
                // RFC 2181 §8: a TTL with its top bit set is zero.
                let ttl = record.ttl >> 31 == 1 ? 0 : min(record.ttl, limits.ttl)
                if let slot = store.slot(of: key, record.data) {
                    if isOneShot {
                        prolong(slot, ttl, isOwn, over: family, at: now, &changes)
                    } else if ttl == 0 {
                        withdraw(slot, at: now)
                    } else {
                        refresh(slot, ttl, isOwn, over: family, at: now, &changes)
                    }
                } else if ttl > 0 {
                    let new = CachedRecord(
                        key, record.data, ttl: ttl, isOwn: isOwn, over: family, from: source, at: now)
                    insert(new, at: now, isWatched, &changes)
                }
                // A goodbye ends itself alone: avahi-daemon gives it the bit, too, and a host may lose one address of two. What takes the place
                // of others is said with a TTL. Where there is no other record, nothing is flushed.
                if ttl > 0, !isOneShot, record.flushesCache, !isShared, !store.holdsOnly(key, record.data) {
                    flushed.insert(key)
                }
            }
        }
        for key in flushed { flush(key, at: now) }
        return changes
    }

    /// Processes someone else's question that expects a multicast answer (RFC 6762 §10.5).
    ///
    /// Not for questions that want a unicast answer, nor for messages with TC, whose known answers are incomplete.
    /// - Returns: the keys of which records are in doubt now: they end after 10 s, so the caller asks for them.
    package mutating func heard(
        _ question: Question, knownAnswers: [ResourceRecord], at now: Duration
    ) -> Set<RecordKey> {
        let types: [RecordType] = question.type == .any ? [.a, .aaaa, .srv, .txt, .ptr] : [question.type]
        let keys = types.map { RecordKey(question.name, $0) }
        guard 1...Self.mostInDoubt ~= keys.reduce(0, { $0 + store.count(of: $1) }) else { return [] }
        var doubted: Set<RecordKey> = []
        let known = Set(knownAnswers.lazy.filter { $0.name == question.name }.map(\.data))
        for slot in keys.flatMap({ store.slots(of: $0) }) {
            guard let cached = store[slot], !known.contains(cached.data) else { continue }
            store[slot]?.life.wasMissed(at: now)
            guard let count = store[slot]?.life.unanswered, count > cached.life.unanswered else { continue }
            guard count >= Self.unansweredQuestions, !cached.life.isEnding else { continue }
            end(slot, at: now + Self.doubt)
            doubted.insert(cached.key)
        }
        return doubted
    }

    /// Processes a probe (RFC 6762 §8.1): the records that its authority section proposes.
    package mutating func heardProbe(for records: some Sequence<ResourceRecord>, at now: Duration) {
        for record in records where record.type == .srv && store.count(of: RecordKey(record.name, .srv)) > 0 {
            probes.note(record.name, at: now)
        }
    }

    /// Puts records in doubt: their service could not be reached (RFC 6762 §10.4). The caller asks for them,
    /// more than once; unanswered, they expire after 10 s.
    package mutating func reconfirm(_ key: RecordKey, at now: Duration) {
        for slot in store.slots(of: key) { end(slot, at: now + Self.doubt) }
    }

    /// Puts every record in doubt, because the machine slept or the link was away. That includes records that expired
    /// while no one could ask for them. The time to answer grows with the number of records to ask for.
    package mutating func reconfirmAll(at now: Duration) {
        let end = now + Self.doubt + .seconds(count / Self.recordsPerSecond)
        for slot in store.indices where store[slot] != nil {
            store[slot]?.life.last(until: end, at: now)
            self.end(slot, at: end)
        }
    }

    /// When to call `advance(to:)`; nil for never.
    package var deadline: Duration? { heap.first?.deadline.time }

    /// Time has passed.
    /// - Parameter isWatched: returns whether the records of a key are kept up to date.
    /// - Returns: records that expired, and watched keys that need a question.
    package mutating func advance(
        to now: Duration, isWatched: (RecordKey) -> Bool
    ) -> (changes: [Change], refreshes: Set<RecordKey>) {
        var changes: [Change] = []
        var refreshes: Set<RecordKey> = []
        while let item = heap.first, item.deadline.time <= now {
            _ = heap.popFirst()
            guard let cached = store[item.slot], cached.life.queued == item.deadline else { continue }
            store[item.slot]?.life.queued = .never
            if cached.life.expires <= now {
                store.remove(item.slot)
                changes.append(.removed(cached.key, cached.data))
                continue
            }
            while let point = refreshPoint(of: item.slot), point <= now {
                if isWatched(cached.key) { refreshes.insert(cached.key) }
                store[item.slot]?.life.refreshes += 1
            }
            queue(item.slot)
        }
        if isFull { isFull = !hasRoom }
        return (changes, refreshes)
    }
}
