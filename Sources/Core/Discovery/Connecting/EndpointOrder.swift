public import DNSSD

/// Orders endpoints for dialling: by RFC 6724 §6 with this machine's own addresses as sources, by SRV priority and
/// weight (RFC 2782), and with the families interleaved (RFC 8305 §4). Endpoints that worked before come first, those
/// that just failed come last.
public struct EndpointOrder: Hashable, Sendable {
    /// This machine's addresses.
    public var local: LocalAddresses
    /// The endpoints' recent successes and failures.
    public var history: EndpointHistory
    /// The seed for choosing by RFC 2782's weights. It stays the same during one call to connect, so that the order
    /// does too.
    var seed: UInt64 = 0

    /// Creates an order.
    public init(local: LocalAddresses, history: EndpointHistory = EndpointHistory()) {
        self.local = local
        self.history = history
    }

    /// Returns the endpoints in the order in which to dial them, without duplicates.
    public func sorted(_ endpoints: [Endpoint], now: Duration) -> [Endpoint] {
        var known: Set<Endpoint> = []
        let unique = endpoints.filter { known.insert($0).inserted }
        let ranked = unique.enumerated().map { index, endpoint in
            (endpoint: endpoint, rank: DestinationRank(endpoint, local, position: index))
        }.sorted { $0.rank < $1.rank }.map(\.endpoint)
        let failed = ranked.filter { history.hasFailed($0, now: now) }
        let others = ranked.filter { !history.hasFailed($0, now: now) }
        let targets = TargetOrder.sorted(Set(others.compactMap(\.target)), seed: seed)
        let byTarget: [ServiceTarget?] = others.contains { $0.target == nil } ? [nil] + targets : targets
        return byTarget.flatMap { target in preferred(others.filter { $0.target == target }, now: now) }
            + Self.interleaved(failed)
    }

    /// Orders the endpoints of one target: those that worked come first, the latest success leading.
    private func preferred(_ others: [Endpoint], now: Duration) -> [Endpoint] {
        // Swift does not promise a stable sort, so the endpoints without a success are left as they are.
        let worked = others.compactMap { endpoint in
            history.lastSuccess(endpoint, now: now).map { (endpoint: endpoint, time: $0) }
        }.sorted { $0.time > $1.time }.map(\.endpoint)
        let unknown = others.filter { history.lastSuccess($0, now: now) == nil }
        return Self.interleaved(worked + unknown)
    }

    /// Alternates the families, beginning with that of the first endpoint (RFC 8305 §4, First Address Family Count 1).
    static func interleaved(_ endpoints: [Endpoint]) -> [Endpoint] {
        guard let first = endpoints.first?.address.family else { return [] }
        let same = endpoints.filter { $0.address.family == first }
        let other = endpoints.filter { $0.address.family != first }
        var result: [Endpoint] = []
        for index in 0..<max(same.count, other.count) {
            if index < same.count { result.append(same[index]) }
            if index < other.count { result.append(other[index]) }
        }
        return result
    }
}

/// The keys that RFC 6724 §6 compares, rule after rule; less is preferred. Rules 3, 4 and 7 need data that a program
/// cannot see.
private struct DestinationRank: Comparable {
    private let keys: [Int]

    init(_ endpoint: Endpoint, _ local: LocalAddresses, position: Int) {
        let address = endpoint.address
        guard let source = local.source(for: address, on: endpoint.interface) else {
            // Rule 1: unusable destinations come last.
            keys = [1, 0, 0, -address.policy.precedence, address.policyScope, 0, position]
            return
        }
        keys = [
            0,
            source.policyScope == address.policyScope ? 0 : 1,  // rule 2
            source.policy.label == address.policy.label ? 0 : 1,  // rule 5
            -address.policy.precedence,  // rule 6
            address.policyScope,  // rule 8
            0,
            position,  // rule 10
        ]
        prefix = (address.family, source.commonPrefixLength(with: address))
    }
    private var prefix: (family: IPAddress.Family, length: Int)?

    static func == (one: DestinationRank, other: DestinationRank) -> Bool { one.keys == other.keys }

    static func < (one: DestinationRank, other: DestinationRank) -> Bool {
        var (mine, theirs) = (one.keys, other.keys)
        // Rule 9 compares addresses of one family only.
        if let (mineOf, myLength) = one.prefix, let (theirsOf, theirLength) = other.prefix, mineOf == theirsOf {
            (mine[5], theirs[5]) = (-myLength, -theirLength)
        }
        return mine.lexicographicallyPrecedes(theirs)
    }
}

/// The policy table and scopes of RFC 6724, which rank destination addresses.
extension IPAddress {
    /// A row of the policy table.
    package struct Policy: Hashable, Sendable {
        /// Destinations with a higher value are preferred.
        package let precedence: Int
        /// Source and destination match if their labels are equal.
        package let label: Int
    }

    /// The row for this address (RFC 6724 §2.1). IPv4 addresses are looked up as IPv4-mapped ones (§2.2).
    package var policy: Policy {
        guard case .v6(let address, _) = self else { return Policy(precedence: 35, label: 4) }
        switch true {
        case address.isLoopback: return Policy(precedence: 50, label: 0)
        case address.isIPv4Mapped: return Policy(precedence: 35, label: 4)
        case address.high >> 48 == 0x2002: return Policy(precedence: 30, label: 2)
        case address.high >> 32 == 0x2001_0000: return Policy(precedence: 5, label: 5)
        case address.isUniqueLocal: return Policy(precedence: 3, label: 13)
        case isSiteLocal: return Policy(precedence: 1, label: 11)
        case address.high >> 48 == 0x3FFE: return Policy(precedence: 1, label: 12)
        case address.high == 0 && address.low >> 32 == 0 && address.low > 1: return Policy(precedence: 1, label: 3)
        default: return Policy(precedence: 40, label: 1)
        }
    }

    /// 2 link-local, 5 site-local, 14 global (RFC 6724 §3.1); loopback counts as link-local (§3.2, §3.4).
    package var policyScope: Int {
        switch self {
        case .v4(let address): address.isLoopback || address.isLinkLocal ? 2 : 14
        case .v6(let address, _):
            if address.isMulticast {
                Int(address.high >> 48 & 0xF)
            } else if address.isLoopback || address.isLinkLocal {
                2
            } else {
                isSiteLocal ? 5 : 14
            }
        }
    }
}

/// Remembers for a while which endpoints could be connected to and which could not.
public struct EndpointHistory: Hashable, Sendable {
    /// How long a success counts.
    public static let successLifetime: Duration = .seconds(600)
    /// How long a failure counts. It is short because a failed endpoint is tried last even after it has recovered.
    public static let failureLifetime: Duration = .seconds(60)
    /// The most endpoints that are remembered; the oldest entry makes room.
    public static let capacity = 256

    private struct Entry: Hashable {
        let succeeded: Bool
        let time: Duration
    }

    private var entries: [Endpoint: Entry] = [:]

    /// Creates an empty history.
    public init() {}

    /// The number of endpoints remembered.
    public var count: Int { entries.count }

    /// Records a connection to an endpoint.
    public mutating func succeeded(_ endpoint: Endpoint, now: Duration) { record(endpoint, true, now) }

    /// Records that an endpoint refused or did not answer.
    public mutating func failed(_ endpoint: Endpoint, now: Duration) { record(endpoint, false, now) }

    /// Returns the time of the last success; nil if a failure followed it or it no longer counts.
    public func lastSuccess(_ endpoint: Endpoint, now: Duration) -> Duration? {
        guard let entry = entries[endpoint], entry.succeeded, now < entry.time + Self.successLifetime else {
            return nil
        }
        return entry.time
    }

    /// Returns whether the last attempt failed and still counts.
    public func hasFailed(_ endpoint: Endpoint, now: Duration) -> Bool {
        guard let entry = entries[endpoint] else { return false }
        return !entry.succeeded && now < entry.time + Self.failureLifetime
    }

    private mutating func record(_ endpoint: Endpoint, _ succeeded: Bool, _ now: Duration) {
        if entries[endpoint] == nil, entries.count >= Self.capacity,
            let oldest = entries.min(by: { $0.value.time < $1.value.time })?.key
        {
            entries[oldest] = nil
        }
        entries[endpoint] = Entry(succeeded: succeeded, time: now)
    }
}
