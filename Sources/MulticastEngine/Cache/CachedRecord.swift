package import DNSMessage

/// One record as it is kept, with its times.
package struct CachedRecord: Sendable {
    package let key: RecordKey
    package let data: RecordData
    /// What the record said, in seconds, within the cache's bound.
    package internal(set) var ttl: UInt32
    /// When it was received last.
    package internal(set) var received: Duration
    /// When it ends unless it is received again.
    package internal(set) var expires: Duration
    /// It ends sooner than its TTL says: a goodbye, another's cache-flush, or nobody answers for it.
    package internal(set) var isEnding = false
    /// This machine has said it.
    package internal(set) var isOwn = false

    /// The points of its life at which it was due to be asked for.
    var refreshes = 0
    /// Questions of others that it should have answered and did not, and when the last was heard (RFC 6762 §10.5).
    var unanswered = 0
    var lastUnanswered = Duration.zero
    /// Where it stands in its group, and which item of the heap is its own.
    var position = 0
    var generation: UInt64 = 0
    var isQueued = false
    var queued = Duration.zero

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
        return received + .milliseconds(Int64(ttl) * Int64(800 + 50 * refreshes + perMille))
    }
}
