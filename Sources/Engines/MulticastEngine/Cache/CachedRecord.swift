package import DNSMessage
package import DNSSD
import Discovery

/// A cached record. A cache may hold a hundred thousand, so its fields are as small as possible.
package struct CachedRecord: Sendable {
    package let key: RecordKey
    package internal(set) var life: RecordLife
    package let data: RecordData

    /// - Parameter family: over which it was heard; nil for both.
    init(
        _ key: RecordKey, _ data: RecordData, ttl: UInt32, isOwn: Bool, over family: IPAddress.Family? = nil,
        from source: PacketSource, at now: Duration
    ) {
        (self.key, self.data) = (key, data)
        life = RecordLife(ttl: ttl, isOwn: isOwn, over: family, from: source, at: now)
    }

    /// Returns the record as a known answer, with the seconds that remain.
    package func record(at now: Duration) -> ResourceRecord {
        let left = max(life.expires - now, .zero).components.seconds
        return ResourceRecord(key.name, key.type, data, ttl: UInt32(clamping: left))
    }
}

/// The times of a cached record, and what else the rules ask about it. It refers to nothing, so the rules look at it without counting references.
package struct RecordLife: BitwiseCopyable, Sendable {
    /// The record's TTL in seconds, within the cache's bound.
    package private(set) var ttl: UInt32
    /// Whether it ends before its TTL: after a goodbye or another record's cache-flush, or because no one answers for
    /// it.
    package private(set) var isEnding = false
    /// Whether this machine sent it.
    package private(set) var isOwn: Bool
    /// The number of its refresh points that have passed.
    var refreshes: UInt8 = 0
    /// The number of others' questions that its host should have answered but did not (RFC 6762 §10.5).
    private(set) var unanswered: UInt8 = 0
    /// The source that sent it first.
    let source: PacketSource

    /// Over which families it was heard.
    private(set) var hearing: Hearing
    /// Its neighbours among the records of its key, and, in the first of them, their number; maintained by the store.
    var links = Links()
    private var receivedAt: Moment
    private var expiresAt: Moment
    private var firstReceivedAt: Moment
    private var lastUnansweredAt = Moment.never
    /// The deadline of its heap item, if there is one.
    var queued = Moment.never

    struct Links: BitwiseCopyable, Sendable {
        var next: Int32 = -1
        var previous: Int32 = -1
        var count: Int32 = 1
    }

    /// - Parameter family: over which it was heard; nil for both.
    init(ttl: UInt32, isOwn: Bool, over family: IPAddress.Family?, from source: PacketSource, at now: Duration) {
        (self.ttl, self.isOwn, self.source) = (ttl, isOwn, source)
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

    /// Returns when to ask for it again: at 80, 85, 90 and 95 % of its life, plus `perMille` thousandths, at most 20
    /// (RFC 6762 §5.2); nil after that.
    func refreshPoint(laterBy perMille: Int) -> Duration? {
        guard !isEnding, refreshes < 4 else { return nil }
        return received + .milliseconds(Int64(ttl) * Int64(800 + 50 * Int(refreshes) + perMille))
    }
}

/// The sender of a packet as a number of two bytes, because thousands of records hold one. Senders may share a number.
package struct PacketSource: BitwiseCopyable, Hashable, Sendable {
    /// The source of answers to one-shot questions.
    package static let asked = PacketSource(0)

    package let number: UInt16

    init(number: UInt16) { self.number = number }

    /// - Parameter address: the source address, or a number derived from it.
    package init(_ address: UInt32) { number = UInt16(truncatingIfNeeded: address.hashValue) }

    /// The sender with this address; the same as of the bytes of a socket's address (`cmulticast_receive`).
    package init(_ address: IPAddress) {
        switch address {
        case .v4(let address): self.init(address.bits.bigEndian)
        case .v6(let address, _):
            let halves = address.high ^ address.low
            self.init((UInt32(truncatingIfNeeded: halves >> 32) ^ UInt32(truncatingIfNeeded: halves)).bigEndian)
        }
    }
}

/// Over which families a record was heard, and when: a query over one family sees what came over it, whatever came over the other.
struct Hearing: BitwiseCopyable, Sendable {
    /// In seconds of the boot clock and one more; 0: never. Thousands of records hold these.
    private var ipv4: UInt32 = 0
    private var ipv6: UInt32 = 0

    /// - Parameter family: nil for both.
    init(over family: IPAddress.Family?, at now: Duration) { note(family, at: now) }

    /// Notes that it was heard over a family, nil for both.
    mutating func note(_ family: IPAddress.Family?, at now: Duration) {
        let time = UInt32(clamping: now.components.seconds) | 1
        if family != .ipv6 { ipv4 = time }
        if family != .ipv4 { ipv6 = time }
    }

    /// Forgets a family over which it was not heard for so many seconds.
    /// - Returns: the family.
    mutating func lapse(after ttl: UInt32, at now: Duration) -> IPAddress.Family? {
        let start = max(0, now.components.seconds - Int64(ttl) - 1)
        for family in IPAddress.Family.allCases where includes(family) && Int64(time(of: family)) < start {
            if family == .ipv4 { ipv4 = 0 } else { ipv6 = 0 }
            return family
        }
        return nil
    }

    func includes(_ family: IPAddress.Family) -> Bool { time(of: family) > 0 }

    private func time(of family: IPAddress.Family) -> UInt32 { family == .ipv4 ? ipv4 : ipv6 }
}
