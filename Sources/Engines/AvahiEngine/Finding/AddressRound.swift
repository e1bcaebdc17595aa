import DNSSD
import DiscoverySystem

/// One look at a host's addresses: collects them, and decides when it ends. A value; times are passed in.
///
/// A look is short, because avahi-daemon 0.8 aborts when a record that a CNAME led to expires during a lookup
/// (docs/decisions/0014-nothing-is-held.md). No record lives less than a second, so a record that arrives during a look
/// cannot expire before its end. The next look sees what has gone.
struct AddressRound {
    /// The most addresses that are kept; more are an attack or a mistake.
    static let maximumAddresses = 32
    /// How long the second family may lag behind the first. RFC 8305 §3 waits 50 ms for AAAA on a LAN; mDNS answers are
    /// multicast, and slower over Wi-Fi.
    static let grace = Duration.milliseconds(150)
    /// The same if no one is waiting: a query may be delayed by up to 120 ms, and so may its answer (RFC 6762 §5.2,
    /// §6).
    static let doubt = Duration.milliseconds(400)
    /// How long to collect further addresses: those of one packet are reported one by one.
    static let gathering = Duration.milliseconds(20)
    /// The longest look.
    static let limit = Duration.milliseconds(900)

    private struct Answer {
        var cacheEnd: MonotonicTime?
        var first: MonotonicTime?
    }

    private let known: Set<IPAddress.Family>
    private let isNew: Bool
    private let limit: MonotonicTime
    /// Outstanding A and AAAA lookups.
    private var answers: [IPAddress.Family: Answer] = [:]
    /// When the first address of any family came.
    private var first: MonotonicTime?
    private var seen: Set<IPAddress> = []

    /// - Parameters:
    ///   - families: the families to look for.
    ///   - known: addresses that the previous look found.
    ///   - isNew: whether there were few looks so far, so that an answer may have been lost.
    ///   - start: when the look begins.
    init(_ families: [IPAddress.Family], known: [IPAddress], isNew: Bool, at start: MonotonicTime) {
        self.known = Set(known.map(\.family))
        self.isNew = isNew
        limit = start + Self.limit
        for family in families { answers[family] = Answer() }
    }

    /// The addresses, IPv4 before IPv6, then by number.
    var addresses: [IPAddress] { seen.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) } }

    mutating func appeared(_ address: IPAddress, at now: MonotonicTime) {
        if seen.count < Self.maximumAddresses { seen.insert(address) }
        first = first ?? now
        if answers[address.family]?.first == nil { answers[address.family]?.first = now }
    }

    /// Avahi has reported its cached records of this family.
    mutating func cacheExhausted(_ family: IPAddress.Family, at now: MonotonicTime) {
        if answers[family]?.cacheEnd == nil { answers[family]?.cacheEnd = now }
    }

    /// No more addresses of this family are expected.
    mutating func ended(_ family: IPAddress.Family) { answers[family] = nil }

    /// When the look ends unless something more arrives.
    var end: MonotonicTime { ends.values.max() ?? MonotonicTime(microseconds: 0) }

    /// When the next lookup ends unless something more arrives; nil when none is outstanding.
    var nextEnd: MonotonicTime? { ends.values.min() }

    /// Ends the lookups whose time has come. One that stayed open for the other's sake would be open when its records run out.
    mutating func endLookups(at now: MonotonicTime) {
        for family in ends.filter({ $0.value <= now }).keys { answers[family] = nil }
    }

    /// Whether addresses of this family are still expected.
    func expects(_ family: IPAddress.Family) -> Bool { answers[family] != nil }

    private var ends: [IPAddress.Family: MonotonicTime] {
        answers.reduce(into: [:]) { $0[$1.key] = min(end($1.key, $1.value), limit) }
    }

    private func end(_ family: IPAddress.Family, _ answer: Answer) -> MonotonicTime {
        guard let cacheEnd = answer.cacheEnd, let first = answer.first ?? first else { return limit }
        // An address that came before the cache's end came from the cache, which held all of them.
        if answer.first != nil { return first <= cacheEnd ? cacheEnd : first + Self.gathering }
        let wait = known.isEmpty ? Self.grace : isNew || known.contains(family) ? Self.doubt : .zero
        return max(first, cacheEnd) + wait
    }
}

extension IPAddress {
    fileprivate var sortKey: [UInt64] {
        switch self {
        case .v4(let address): [0, UInt64(address.bits)]
        case .v6(let address, let scope): [1, address.high, address.low, UInt64(scope)]
        }
    }
}
