import DNSSD
import System

/// One look at a host's addresses: what has come of it, and when a lookup of it is over. A value; times are given.
///
/// A look is short, because avahi-daemon 0.8 aborts when a record that a CNAME record led to runs out while it is looked up
/// (docs/decisions/0014-nothing-is-held.md). No record lives less than a second, so what comes in while a look is open cannot run
/// out before its end.
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
        var hasEnded = false
    }

    private let known: Set<IPAddress.Family>
    private let isNew: Bool
    private let end: MonotonicTime
    private var answers: [RecordBrowser.Kind: Answer]
    /// Which families' packets carried each address.
    private var seen: [IPAddress: Set<IPAddress.Family>] = [:]

    /// - Parameters:
    ///   - known: what the look before this one has found.
    ///   - isNew: there were few looks: an answer may have been lost.
    init(_ kinds: [RecordBrowser.Kind], known: [IPAddress], isNew: Bool, at start: MonotonicTime) {
        self.known = Set(known.map(\.family))
        self.isNew = isNew
        end = start + Self.limit
        answers = Dictionary(kinds.map { ($0, Answer()) }) { first, _ in first }
    }

    /// The addresses, IPv4 before IPv6, then by number.
    var addresses: [IPAddress] { seen.keys.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) } }

    var isEmpty: Bool { seen.isEmpty }

    mutating func appeared(
        _ address: IPAddress, _ kind: RecordBrowser.Kind, over family: IPAddress.Family, at now: MonotonicTime
    ) {
        guard seen[address] != nil || seen.count < Self.maximumAddresses else { return }
        seen[address, default: []].insert(family)
        if answers[kind]?.first == nil { answers[kind]?.first = now }
    }

    mutating func disappeared(_ address: IPAddress, over family: IPAddress.Family) {
        seen[address]?.remove(family)
        if seen[address]?.isEmpty ?? false { seen[address] = nil }
    }

    /// What avahi-daemon had of this kind was reported.
    mutating func cacheExhausted(_ kind: RecordBrowser.Kind, at now: MonotonicTime) {
        if answers[kind]?.cacheEnd == nil { answers[kind]?.cacheEnd = now }
    }

    /// Nothing more of this kind is to be expected.
    mutating func ended(_ kind: RecordBrowser.Kind) { answers[kind]?.hasEnded = true }

    /// When the lookup of this kind is to be freed, as things are.
    func end(of kind: RecordBrowser.Kind) -> MonotonicTime {
        guard let answer = answers[kind], !answer.hasEnded else { return MonotonicTime(microseconds: 0) }
        guard let cacheEnd = answer.cacheEnd else { return end }
        if let first = answer.first {
            // What was in the cache was all there.
            return first <= cacheEnd ? cacheEnd : min(end, first + Self.gathering)
        }
        guard let other = answers.first(where: { $0.key != kind })?.value.first else { return end }
        let wait = known.isEmpty ? Self.grace : isNew || known.contains(kind.family) ? Self.doubt : .zero
        return min(end, max(other, cacheEnd) + wait)
    }
}

extension RecordBrowser.Kind {
    var family: IPAddress.Family { self == .a ? .ipv4 : .ipv6 }
}

extension IPAddress {
    fileprivate var sortKey: [UInt64] {
        switch self {
        case .v4(let address): [0, UInt64(address.bits)]
        case .v6(let address, let scope): [1, address.high, address.low, UInt64(scope)]
        }
    }
}
