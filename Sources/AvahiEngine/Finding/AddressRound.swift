import DNSSD
import System

/// One look at a host's addresses: what has come of it, and when it is over. A value; times are given.
///
/// A look is short, because avahi-daemon 0.8 aborts when a record that a CNAME record led to runs out while it is looked up
/// (docs/decisions/0014-nothing-is-held.md). No record lives less than a second, so what comes in while a look is open cannot run
/// out before its end; and what ends meanwhile is seen by the next.
struct AddressRound {
    /// More than this is an attack or a mistake.
    static let maximumAddresses = 32
    /// How long the second family may lag behind the first. RFC 8305 §3 waits 50 ms for AAAA on a LAN; mDNS answers are multicast,
    /// and slower over Wi-Fi.
    static let grace = Duration.milliseconds(150)
    /// The same where nobody waits for it: a query waits for 120 ms at most, and so does its answer (RFC 6762 §5.2, §6).
    static let doubt = Duration.milliseconds(400)
    /// Addresses that come in one packet are told one after the other.
    static let gathering = Duration.milliseconds(20)
    /// The longest that a look may take.
    static let limit = Duration.milliseconds(900)

    private struct Answer {
        var cacheEnd: MonotonicTime?
        var first: MonotonicTime?
    }

    private let known: Set<IPAddress.Family>
    private let isNew: Bool
    private let limit: MonotonicTime
    /// Of A and AAAA records, as long as more may come.
    private var answers: [IPAddress.Family: Answer] = [:]
    private var seen: Set<IPAddress> = []

    /// - Parameters:
    ///   - known: what the look before this one has found.
    ///   - isNew: there were few looks: an answer may have been lost.
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
        if answers[address.family]?.first == nil { answers[address.family]?.first = now }
    }

    /// What avahi-daemon had of this family was reported.
    mutating func cacheExhausted(_ family: IPAddress.Family, at now: MonotonicTime) {
        if answers[family]?.cacheEnd == nil { answers[family]?.cacheEnd = now }
    }

    /// Nothing more of this family is to be expected.
    mutating func ended(_ family: IPAddress.Family) { answers[family] = nil }

    /// When the look is over, as things are.
    var end: MonotonicTime {
        let other = answers.values.compactMap(\.first).min()
        let ends = answers.map { family, answer in
            guard let cacheEnd = answer.cacheEnd, let first = answer.first ?? other else { return limit }
            // What was in the cache was all there.
            if answer.first != nil { return first <= cacheEnd ? cacheEnd : first + Self.gathering }
            let wait = known.isEmpty ? Self.grace : isNew || known.contains(family) ? Self.doubt : .zero
            return max(first, cacheEnd) + wait
        }
        return ends.max().map { min($0, limit) } ?? MonotonicTime(microseconds: 0)
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
