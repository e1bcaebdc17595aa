package import DNSMessage
import DNSSD
import Records

/// A cached record with its times. A cache may hold a hundred thousand, so its fields are as small as possible.
package struct CachedRecord: Sendable {
    package let key: RecordKey
    /// The record's TTL in seconds, within the cache's bound.
    package internal(set) var ttl: UInt32
    /// Whether it ends before its TTL: after a goodbye or another record's cache-flush, or because no one answers for
    /// it.
    package internal(set) var isEnding = false
    /// Whether this machine sent it.
    package internal(set) var isOwn = false
    /// Whether the heap holds an item for it.
    var isQueued = false
    /// The number of its refresh points that have passed.
    var refreshes: UInt8 = 0
    /// The number of others' questions that its host should have answered but did not (RFC 6762 §10.5).
    var unanswered: UInt8 = 0
    /// The source that sent it first.
    let source: PacketSource
    package let data: RecordData

    /// Over which families it was heard.
    private(set) var hearing: Hearing
    private var receivedAt: Moment
    private var expiresAt: Moment
    private var firstReceivedAt: Moment
    private var lastUnansweredAt = Moment.never
    /// The deadline of its heap item.
    var queued = Moment.never

    /// Its neighbours among the records of its key, and, in the first of them, their number; maintained by the store.
    var links = Links()

    struct Links: Sendable {
        var next: Int32 = -1
        var previous: Int32 = -1
        var count: Int32 = 1
    }

    /// - Parameter family: over which it was heard; nil for both.
    init(
        _ key: RecordKey, _ data: RecordData, ttl: UInt32, over family: IPAddress.Family? = nil,
        from source: PacketSource, at now: Duration
    ) {
        self.key = key
        self.data = data
        self.ttl = ttl
        self.source = source
        hearing = Hearing(over: family, at: now)
        receivedAt = Moment(now)
        firstReceivedAt = receivedAt
        expiresAt = Moment(now + .seconds(ttl))
    }

    /// When it was last received.
    package var received: Duration { receivedAt.time }
    /// When it was first received in this life.
    package var firstReceived: Duration { firstReceivedAt.time }
    /// When it expires unless it is received again.
    package var expires: Duration { expiresAt.time }

    /// It was received again.
    /// - Returns: whether for the first time over this family, and the family over which it was not heard for a life.
    mutating func renew(
        ttl: UInt32, over family: IPAddress.Family?, isOwn: Bool, at now: Duration
    ) -> (isNew: Bool, lapsed: IPAddress.Family?) {
        let isNew = family.map { !hearing.includes($0) } ?? false
        hearing.note(family, at: now)
        self.ttl = ttl
        self.isOwn = self.isOwn || isOwn
        receivedAt = Moment(now)
        expiresAt = Moment(now + .seconds(ttl))
        isEnding = false
        refreshes = 0
        unanswered = 0
        return (isNew, hearing.lapse(after: ttl, at: now))
    }

    mutating func hear(over family: IPAddress.Family, at now: Duration) { hearing.note(family, at: now) }

    /// Makes it end at `time` unless it is received again.
    /// - Returns: whether that is sooner than before.
    mutating func end(at time: Duration) -> Bool {
        guard time < expires else { return false }
        expiresAt = Moment(time)
        isEnding = true
        return true
    }

    /// It expired unobserved, and is kept until `time`.
    mutating func last(until time: Duration, at now: Duration) {
        guard expires <= now else { return }
        expiresAt = Moment(time)
        isEnding = true
    }

    /// Someone else's question was not answered. Questions within a second count as one.
    mutating func wasMissed(at now: Duration) {
        guard unanswered == 0 || now - lastUnansweredAt.time > .seconds(1) else { return }
        unanswered = min(unanswered, 254) + 1
        lastUnansweredAt = Moment(now)
    }

    /// Returns whether half its life has passed, so that it is no longer listed as a known answer (RFC 6762 §7.1).
    package func isStale(at now: Duration) -> Bool { isEnding || now - received > .seconds(ttl) / 2 }

    /// Returns the record as a known answer, with the seconds that remain.
    package func record(at now: Duration) -> ResourceRecord {
        let left = max(expires - now, .zero).components.seconds
        return ResourceRecord(key.name, key.type, data, ttl: UInt32(clamping: left))
    }

    /// Returns when to ask for it again: at 80, 85, 90 and 95 % of its life, plus `perMille` thousandths, at most 20
    /// (RFC 6762 §5.2); nil after that.
    func refreshPoint(laterBy perMille: Int) -> Duration? {
        guard !isEnding, refreshes < 4 else { return nil }
        return received + .milliseconds(Int64(ttl) * Int64(800 + 50 * Int(refreshes) + perMille))
    }
}
