internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

/// What one of the daemon's streams says, as an engine's facts. A value: takes changes in, returns facts.
///
/// The daemon has merged and held back already: what it says is passed on whole. It says only what changes, so what it has said is kept for who
/// asks later, and for when its backend is back, after which an engine reports everything again. What it said before the connection broke is
/// the catalog's to keep until it has said all again.
struct Mirror<Fact: MirroredFact>: Sendable {
    /// The most values kept; the daemon says what it leaves out of its own.
    private let limit: Int
    private var known: [Fact.Value.Key: Fact.Value] = [:]
    /// As reported; nil before the first.
    private var backend: EngineState?
    /// The daemon has said on this connection how its backend is, if only by what it said.
    private var isHeard = false
    private var isSettled = false
    /// The last reported omission.
    private var omission: String?

    init(limit: Int = 20_000) { self.limit = limit }

    mutating func received(_ change: Change<Fact.Value>) -> [Fact] {
        switch change {
        case .backend(let state): return state.reason.map { down($0, isHeard: true) } ?? up()
        case .found(let value), .changed(let value):
            let facts = became()
            guard known.count < limit || known[value.key] != nil else {
                return facts + [.degraded("more than \(limit) in one answer: further ones are left out")]
            }
            known[value.key] = value
            return facts + Fact.reports(value)
        case .lost(let value):
            let facts = became()
            known[value.key] = nil
            return facts + [.gone(value.key)]
        case .settled:
            let facts = up()
            isSettled = true
            return facts + [.listed]
        case .degraded(let reason):
            let facts = became()
            omission = reason
            return facts + [.degraded(reason)]
        }
    }

    mutating func disconnected(_ reason: String) -> [Fact] {
        (known, isSettled, omission) = ([:], false, nil)
        return down(reason, isHeard: false)
    }

    /// All that was reported and holds, for who asks later.
    var snapshot: [Fact] {
        (backend.map { [.backend($0)] } ?? []) + known.values.flatMap { Fact.reports($0) }
            + (omission.map { [.degraded($0)] } ?? []) + (isSettled ? [.listed] : [])
    }

    /// What a daemon says comes from its backend, so that is up, unless it has said that it only remembers.
    private mutating func became() -> [Fact] { isHeard && backend != .up ? [] : up() }

    private mutating func up() -> [Fact] {
        isHeard = true
        guard backend != .up else { return [] }
        backend = .up
        return [.backend(.up)] + known.values.flatMap { Fact.reports($0) } + (isSettled ? [.listed] : [])
    }

    private mutating func down(_ reason: String, isHeard: Bool) -> [Fact] {
        self.isHeard = isHeard
        if case .down = backend { return [] }
        backend = .down(reason)
        return [.backend(.down(reason))]
    }
}

/// A fact that the daemon's lines become.
protocol MirroredFact: FinderFact {
    /// What the lines are about.
    associatedtype Value: Listed

    /// The facts of a value that is there.
    static func reports(_ value: Value) -> [Self]
    static func gone(_ key: Value.Key) -> Self
    /// What it is about; nil for what is about all.
    var subject: Value.Key? { get }
}

extension BrowseFact: MirroredFact {
    static func reports(_ service: DiscoveredService) -> [Self] { [.merged(service)] }

    var subject: ServiceInstance? {
        switch self {
        case .merged(let service): service.instance
        case .gone(let instance): instance
        default: nil
        }
    }
}

extension PresenceFact: MirroredFact {
    static func reports(_ listing: Listing<Key>) -> [Self] { listing.origins.map { .appeared(listing.key, $0) } }

    var subject: Key? {
        switch self {
        case .appeared(let key, _), .disappeared(let key, _), .hidden(let key, _), .gone(let key): key
        case .listed, .backend, .degraded: nil
        }
    }
}
