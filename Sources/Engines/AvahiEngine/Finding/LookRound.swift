import DNSMessage
import DiscoverySystem

/// One look at the addresses of a host: collects them, and decides when each lookup ends. A value; times are passed in.
///
/// A look is short, because avahi-daemon 0.8 aborts when a record that a CNAME led to expires during a lookup
/// (docs/decisions/0014-nothing-is-held.md). No record lives less than a second, so a record that arrives during a look
/// cannot expire before its end. The next look sees what has gone.
struct LookRound {
    /// The longest look.
    static let limit = Duration.milliseconds(900)
    /// How long to collect further records of a type: those of one packet are reported one by one.
    static let gathering = Duration.milliseconds(20)
    /// How long the second family may lag behind the first. RFC 8305 §3 waits 50 ms for AAAA on a LAN; mDNS answers are
    /// multicast, and slower over Wi-Fi.
    static let grace = Duration.milliseconds(150)
    /// The same if no one is waiting: a query may be delayed by up to 120 ms, and so may its answer (RFC 6762 §5.2,
    /// §6).
    static let doubt = Duration.milliseconds(400)
    /// The most records of a type that are kept: more than are reported, so that this can be said.
    static let mostRecords = 64

    private struct Lookup {
        var cacheEnd: MonotonicTime?
        var first: MonotonicTime?
    }

    /// What has come, and whether this machine publishes it.
    private(set) var found: [RecordType: [RecordData: Bool]] = [:]
    private let known: Set<RecordType>
    private let isNew: Bool
    private let limit: MonotonicTime
    private var open: [RecordType: Lookup] = [:]
    /// When the first record of any type came.
    private var first: MonotonicTime?

    /// - Parameters:
    ///   - types: the types to look for.
    ///   - known: the types of which the previous looks found records.
    ///   - isNew: whether there were few looks so far, so that an answer may have been lost.
    ///   - start: when the look begins.
    init(
        _ types: some Sequence<RecordType>, known: Set<RecordType>, isNew: Bool, at start: MonotonicTime
    ) {
        (self.known, self.isNew) = (known, isNew)
        limit = start + Self.limit
        for type in types { open[type] = Lookup() }
    }

    mutating func appeared(_ data: RecordData, _ type: RecordType, isOwn: Bool, at now: MonotonicTime) {
        if let before = found[type]?[data] {
            found[type]?[data] = before || isOwn
        } else if found[type, default: [:]].count < Self.mostRecords {
            found[type, default: [:]][data] = isOwn
        }
        first = first ?? now
        if open[type]?.first == nil { open[type]?.first = now }
    }

    /// Avahi has reported its cached records of a type.
    mutating func cacheExhausted(_ type: RecordType, at now: MonotonicTime) {
        if open[type]?.cacheEnd == nil { open[type]?.cacheEnd = now }
    }

    /// No more records of a type are expected.
    mutating func ended(_ type: RecordType) { open[type] = nil }

    /// When the next lookup ends unless something more arrives; nil when none is open.
    var nextEnd: MonotonicTime? { open.map { end($0.key, $0.value) }.min() }

    /// Ends the lookups whose time has come, and returns their types. One that stayed open for the other's sake would be open when its
    /// records run out.
    mutating func endLookups(at now: MonotonicTime) -> [RecordType] {
        let over = open.filter { end($0.key, $0.value) <= now }.map(\.key)
        for type in over { open[type] = nil }
        return over
    }

    private func end(_ type: RecordType, _ lookup: Lookup) -> MonotonicTime {
        guard let cacheEnd = lookup.cacheEnd else { return limit }
        // A record that came before the cache's end came from the cache, which held all of them.
        if let first = lookup.first { return min(limit, first <= cacheEnd ? cacheEnd : first + Self.gathering) }
        guard let first else { return limit }
        let wait = known.isEmpty ? Self.grace : isNew || known.contains(type) ? Self.doubt : .zero
        return min(limit, max(first, cacheEnd) + wait)
    }
}
