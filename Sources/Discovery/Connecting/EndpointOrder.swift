public import DNSSD

/// In which order to dial: by RFC 6724 §6 against this machine's own addresses, families interleaved (RFC 8305 §4), what
/// worked last first, what just failed last.
public struct EndpointOrder: Hashable, Sendable {
    /// This machine's addresses.
    public var local: LocalAddresses
    /// What dialling taught.
    public var history: EndpointHistory
    /// What the chances of RFC 2782's weights come from: the same for one connection, so that its order stays.
    var seed: UInt64 = 0

    /// Creates an order.
    public init(local: LocalAddresses, history: EndpointHistory = EndpointHistory()) {
        self.local = local
        self.history = history
    }

    /// The endpoints in the order in which to dial them; one of each kind.
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

    /// Those of one target: what worked last first.
    private func preferred(_ others: [Endpoint], now: Duration) -> [Endpoint] {
        // Swift's sort keeps no order of equals that it promises, so those without a success are not sorted.
        let worked = others.compactMap { endpoint in
            history.lastSuccess(endpoint, now: now).map { (endpoint: endpoint, time: $0) }
        }.sorted { $0.time > $1.time }.map(\.endpoint)
        let unknown = others.filter { history.lastSuccess($0, now: now) == nil }
        return Self.interleaved(worked + unknown)
    }

    /// One of each family in turn, beginning with the family of the first (RFC 8305 §4, First Address Family Count 1).
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

/// What RFC 6724 §6 compares, rule after rule; less is preferred. Rules 3, 4 and 7 need what a program cannot see.
private struct DestinationRank: Comparable {
    private let keys: [Int]

    init(_ endpoint: Endpoint, _ local: LocalAddresses, position: Int) {
        let address = endpoint.address
        guard let source = local.source(for: address, on: endpoint.interface) else {
            // Rule 1: what cannot be reached comes last.
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
