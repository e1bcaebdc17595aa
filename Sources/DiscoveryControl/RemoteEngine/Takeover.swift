internal import DNSSD
internal import Discovery

/// A fact of a query that another engine can go on with.
protocol SucceedingFact: Sendable {
    /// What was seen where.
    associatedtype Sight: Sendable
    /// What makes two sights the same, whoever reports them.
    associatedtype Key: Hashable, Sendable

    static func key(of sight: Sight) -> Key
    /// Out of sight, and perhaps still there.
    static func hidden(_ sight: Sight) -> Self
    var appearance: Sight? { get }
    var end: Sight? { get }
    var isListed: Bool { get }
    /// An end that may be followed by a return is held back by the daemon, and not by other engines.
    var held: Self { get }
}

/// Joins what the daemon reported to what another engine reports in its place, so that nothing ends only because another one looks. A value.
struct Takeover<Fact: SucceedingFact>: Sendable {
    /// What the daemon has reported, and not ended; afterwards, what the other engine has not seen yet.
    private var known: [Fact.Key: Fact.Sight] = [:]
    private var isOver = false

    init() {}

    /// What the daemon reports.
    mutating func received(_ facts: [Fact]) {
        for fact in facts {
            if let sight = fact.appearance { known[Fact.key(of: sight)] = sight }
            if let sight = fact.end { known[Fact.key(of: sight)] = nil }
        }
    }

    /// What the other engine reports.
    mutating func took(_ facts: [Fact]) -> [Fact] {
        facts.flatMap { fact -> [Fact] in
            if let sight = fact.appearance ?? fact.end { known[Fact.key(of: sight)] = nil }
            guard fact.isListed else { return [fact.held] }
            defer { known = [:] }
            // Who has just answered the daemon need not answer again at once.
            return known.values.map { .hidden($0) } + [fact]
        }
    }
}

extension BrowseFact: SucceedingFact {
    struct Key: Hashable, Sendable {
        let instance: ServiceInstance
        let origin: Origin
    }

    static func key(of sight: Sighting) -> Key { Key(instance: sight.instance, origin: sight.origin) }

    var appearance: Sighting? { if case .appeared(let sight) = self { sight } else { nil } }

    var end: Sighting? {
        switch self {
        case .disappeared(let sight), .withdrawn(let sight), .hidden(let sight): sight
        default: nil
        }
    }

    var isListed: Bool { self == .listed }

    var held: BrowseFact { if case .disappeared(let sight) = self { .hidden(sight) } else { self } }
}

extension PresenceFact: SucceedingFact {
    struct Sight: Hashable, Sendable {
        let key: Key
        let origin: Origin
    }

    static func key(of sight: Sight) -> Sight { sight }

    static func hidden(_ sight: Sight) -> Self { .hidden(sight.key, sight.origin) }

    var appearance: Sight? {
        if case .appeared(let key, let origin) = self { Sight(key: key, origin: origin) } else { nil }
    }

    var end: Sight? {
        switch self {
        case .disappeared(let key, let origin), .hidden(let key, let origin): Sight(key: key, origin: origin)
        default: nil
        }
    }

    var isListed: Bool { self == .listed }

    var held: Self { if case .disappeared(let key, let origin) = self { .hidden(key, origin) } else { self } }
}
