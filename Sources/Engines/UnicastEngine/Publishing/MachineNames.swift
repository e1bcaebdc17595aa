import DNSMessage
import DNSSD

/// Under which name of this machine something is.
enum HostRole: Hashable, Sendable {
    /// Its own.
    case own
    case alias(DomainName)
}

/// The names that have this machine's addresses in a zone: its own, and aliases as long as something is on them.
struct MachineNames: Sendable {
    private let records: PublisherRecords
    private var claims: [HostRole: HostClaim]
    /// The machine's addresses; nil before they were looked at.
    private(set) var addresses: Set<IPAddress>?

    /// - Parameter label: the machine's own name, as of `HostClaim.Wish`.
    init(_ records: PublisherRecords, label: String) {
        self.records = records
        claims = [.own: HostClaim(records, .own(label))]
    }

    /// The claim for a name; nil for an alias that nothing is on.
    subscript(_ role: HostRole) -> HostClaim? { claims[role] }

    /// Changes a claim, of which there may be none.
    mutating func change<Result>(_ role: HostRole, _ body: (inout HostClaim) -> Result) -> Result? {
        guard var claim = claims[role] else { return nil }
        defer { claims[role] = claim }
        return body(&claim)
    }

    // MARK: What is known

    /// Whether records of this publisher may be at one of the names.
    var mayExist: Bool { claims.values.contains(where: \.mayExist) }
    /// Whether the server has acknowledged this publisher's addresses at one of the names.
    var isWritten: Bool { claims.values.contains(where: \.isWritten) }
    var retryTimes: [Duration] { claims.values.compactMap(\.retryAt) }
    /// The names that are in the zone, or may be.
    var names: Set<DomainName> { Set(claims.values.filter { $0.mayExist || $0.isThere }.compactMap(\.name)) }

    /// Returns the number of aliases that have entries in a shard of the manifest.
    func aliases(in shard: Int) -> Int {
        claims.count { role, claim in
            guard case .alias(let name) = role, claim.mayExist else { return false }
            return ZoneLayout.shard(of: name) == shard
        }
    }

    // MARK: Events

    mutating func became(_ addresses: Set<IPAddress>) {
        self.addresses = addresses
        changeAll { $0.became(addresses) }
    }

    mutating func lookAgain() { changeAll { $0.lookAgain() } }
    mutating func writeAgain() { changeAll { $0.writeAgain() } }
    mutating func lost() { changeAll { $0.lost() } }
    mutating func retryNow() { changeAll { $0.retryNow() } }

    private mutating func changeAll(_ body: (inout HostClaim) -> Void) {
        for role in claims.keys { _ = change(role, body) }
    }

    /// Something is on these names.
    mutating func need(_ roles: [HostRole]) {
        for case .alias(let name) in roles where claims[.alias(name)] == nil {
            var claim = HostClaim(records, .alias(name))
            if let addresses { claim.became(addresses) }
            claims[.alias(name)] = claim
        }
    }

    /// Gives up the names that nothing is on any more.
    /// - Returns: what must be removed.
    mutating func withdraw(but needed: Set<HostRole>) -> [HostClaim.End] {
        var left: [HostClaim.End] = []
        for role in claims.keys.filter({ !needed.contains($0) }) {
            guard let claim = claims[role], !claim.isUnderWay else { continue }
            let end = change(role) { $0.withdraw() } ?? nil
            if case .alias = role { claims[role] = nil }
            if let end { left.append(end) }
        }
        guard !left.isEmpty else { return [] }
        // An alias may be the name that the machine itself has.
        let names = names
        return left.filter { !names.contains($0.name) }
    }
}
