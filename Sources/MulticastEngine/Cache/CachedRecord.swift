package import DNSMessage

/// One record as it is kept, with its times. There may be a hundred thousand: its parts are as small as they can be.
package struct CachedRecord: Sendable {
    package let key: RecordKey
    /// What the record said, in seconds, within the cache's bound.
    package internal(set) var ttl: UInt32
    /// It ends sooner than its TTL says: a goodbye, another's cache-flush, or nobody answers for it.
    package internal(set) var isEnding = false
    /// This machine has said it.
    package internal(set) var isOwn = false
    /// It has an item of the heap.
    var isQueued = false
    /// The points of its life at which it was due to be asked for.
    var refreshes: UInt8 = 0
    /// Questions of others that it should have answered and did not (RFC 6762 §10.5).
    var unanswered: UInt8 = 0
    package let data: RecordData

    private var receivedAt: Moment
    private var expiresAt: Moment
    private var firstReceivedAt: Moment
    private var lastUnansweredAt = Moment.never
    /// The deadline of its item.
    var queued = Moment.never

    /// Its neighbours among the records of its key, and how many these are, where it is the first of them; the store's own.
    var links = Links()

    struct Links: Sendable {
        var next: Int32 = -1
        var previous: Int32 = -1
        var count: Int32 = 1
    }

    init(_ key: RecordKey, _ data: RecordData, ttl: UInt32, at now: Duration) {
        self.key = key
        self.data = data
        self.ttl = ttl
        receivedAt = Moment(now)
        firstReceivedAt = receivedAt
        expiresAt = Moment(now + .seconds(ttl))
    }

    /// When it was received last.
    package var received: Duration { receivedAt.time }
    /// When it was received first in this life.
    package var firstReceived: Duration { firstReceivedAt.time }
    /// When it ends unless it is received again.
    package var expires: Duration { expiresAt.time }

    /// It was received again.
    mutating func renew(ttl: UInt32, isOwn: Bool, at now: Duration) {
        self.ttl = ttl
        self.isOwn = self.isOwn || isOwn
        receivedAt = Moment(now)
        expiresAt = Moment(now + .seconds(ttl))
        isEnding = false
        refreshes = 0
        unanswered = 0
    }

    /// It ends at this time unless it is received again.
    /// - Returns: whether that is sooner than before.
    mutating func end(at time: Duration) -> Bool {
        guard time < expires else { return false }
        expiresAt = Moment(time)
        isEnding = true
        return true
    }

    /// It ran out while nobody looked, and stays until then.
    mutating func last(until time: Duration, at now: Duration) {
        guard expires <= now else { return }
        expiresAt = Moment(time)
        isEnding = true
    }

    /// A question of someone else's was not answered; those within a second are one.
    mutating func wasMissed(at now: Duration) {
        guard unanswered == 0 || now - lastUnansweredAt.time > .seconds(1) else { return }
        unanswered = min(unanswered, 254) + 1
        lastUnansweredAt = Moment(now)
    }

    /// Half its life is over: it no longer counts as known to whom is asked (RFC 6762 §7.1).
    package func isStale(at now: Duration) -> Bool { isEnding || now - received > .seconds(ttl) / 2 }

    /// The record as a known answer: with the seconds that are left.
    package func record(at now: Duration) -> ResourceRecord {
        let left = max(expires - now, .zero).components.seconds
        return ResourceRecord(key.name, key.type, data, ttl: UInt32(clamping: left))
    }

    /// When it is due to be asked for again: at 80, 85, 90 and 95 % of its life, and so many thousandths later, 20 at most (RFC 6762 §5.2);
    /// nil after that.
    func refreshPoint(laterBy perMille: Int) -> Duration? {
        guard !isEnding, refreshes < 4 else { return nil }
        return received + .milliseconds(Int64(ttl) * Int64(800 + 50 * Int(refreshes) + perMille))
    }
}
