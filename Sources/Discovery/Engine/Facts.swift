public import DNSSD

/// Where a fact was learned.
public enum Origin: Hashable, Sendable, Comparable {
    /// On a link, by multicast DNS: what holds there may not hold on another.
    case link(NetworkInterface)
    /// From a DNS server, which is on no link.
    case unicast

    /// The link; nil for what a server said.
    public var interface: NetworkInterface? {
        switch self {
        case .link(let interface): interface
        case .unicast: nil
        }
    }
}

/// Whether an engine's backend answers. What came before it is not the engine's to say: `BackendState` is derived from it.
public enum EngineState: Hashable, Sendable {
    /// It answers.
    case up
    /// It does not; the reason is for people.
    case down(String)

    /// Why it does not answer.
    public var reason: String? {
        switch self {
        case .up: nil
        case .down(let reason): reason
        }
    }
}

/// One service seen at one origin over one family: the same service is sighted several times.
public struct Sighting: Hashable, Sendable {
    /// Which service.
    public let instance: ServiceInstance
    /// Where.
    public let origin: Origin
    /// Over IPv4 or IPv6 packets, whatever addresses they carry; nil where packets do not show it, as from a DNS server.
    public let family: IPAddress.Family?
    /// This machine publishes it.
    public let isOwn: Bool

    /// Creates a sighting.
    public init(instance: ServiceInstance, origin: Origin, family: IPAddress.Family?, isOwn: Bool = false) {
        self.instance = instance
        self.origin = origin
        self.family = family
        self.isOwn = isOwn
    }
}

/// What a finder reports for a `ServiceQuery`.
public enum BrowseFact: Hashable, Sendable {
    /// A service was sighted. In a query for one instance it comes with the first resolution on each path.
    case appeared(Sighting)
    /// A sighting ended. It may come back at once.
    case disappeared(Sighting)
    /// A sighting ended, and its host is still there: it was withdrawn, and nothing suggests that it will be back in a moment.
    case withdrawn(Sighting)
    /// A sighting ended because this machine's own interface went down, which says nothing of the service.
    case hidden(Sighting)
    /// A sighted service was resolved at an origin, or resolved again with other values.
    case resolved(Resolution)
    /// A sighted service did not answer on any path of an origin; the engine goes on trying while the query watches.
    case resolutionFailed(ServiceInstance, Origin)
    /// The backend's first answer is complete: every sighting it knew has been reported (not: resolved). Comes once for each time
    /// the backend came up, after its sightings.
    case listed
    /// The backend answers, or does not. After `up` everything is reported again, then `.listed`.
    case backend(EngineState)
    /// Something was left out.
    case degraded(String)
}

/// What a finder reports about things that are only there or not there: types and domains.
public enum PresenceFact<Key: Hashable & Sendable>: Hashable, Sendable {
    /// It was seen at an origin.
    case appeared(Key, Origin)
    /// It is gone from there.
    case disappeared(Key, Origin)
    /// It is out of sight there because this machine's own interface went down, which says nothing of it.
    case hidden(Key, Origin)
    /// The backend's first answer is complete. Comes once for each time the backend came up.
    case listed
    /// The backend answers, or does not. After `up` everything is reported again, then `.listed`.
    case backend(EngineState)
    /// Something was left out.
    case degraded(String)
}

/// A service type in a domain.
public struct TypeKey: Hashable, Sendable {
    /// The type.
    public let type: ServiceType
    /// The domain.
    public let domain: Domain

    /// Creates a key.
    public init(type: ServiceType, domain: Domain) {
        self.type = type
        self.domain = domain
    }
}

/// What a finder reports for a `TypeQuery`.
public typealias TypeFact = PresenceFact<TypeKey>

/// What a finder reports for a `DomainQuery`.
public typealias DomainFact = PresenceFact<Domain>

/// What every finder's facts have in common.
package protocol FinderFact: Sendable {
    static var listed: Self { get }
    static func backend(_ state: EngineState) -> Self
    static func degraded(_ text: String) -> Self
}

extension BrowseFact: FinderFact {}
extension PresenceFact: FinderFact {}
