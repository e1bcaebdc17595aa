public import DNSSD

/// Where a fact was learned.
public enum Origin: Hashable, Sendable, Comparable {
    /// On a link, by multicast DNS; it need not hold on another link.
    case link(NetworkInterface)
    /// From a DNS server, which is on no link.
    case unicast

    /// The link's interface; nil for a DNS server.
    public var interface: NetworkInterface? {
        switch self {
        case .link(let interface): interface
        case .unicast: nil
        }
    }
}

/// Whether an engine's backend answers. `BackendState` adds the history.
public enum EngineState: Hashable, Sendable {
    /// The backend answers.
    case up
    /// The backend does not answer; the reason is for people.
    case down(String)
    /// It is not there because nothing needs it, and comes when something does; the reason is for people.
    case idle(String)

    /// The reason the backend does not answer; nil if it does.
    public var reason: String? {
        switch self {
        case .up: nil
        case .down(let reason), .idle(let reason): reason
        }
    }
}

/// One service seen at one origin over one IP family. The same service may be sighted several times.
public struct Sighting: Hashable, Sendable {
    /// The service.
    public let instance: ServiceInstance
    /// Where it was seen.
    public let origin: Origin
    /// The family of the packets, whatever addresses they carry; nil if it does not matter, as with a DNS server.
    public let family: IPAddress.Family?
    /// Whether this machine publishes the service.
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
    /// A service was sighted. A query for one instance reports it with the first resolution on each path.
    case appeared(Sighting)
    /// A sighting ended; the service may come back at once.
    case disappeared(Sighting)
    /// A sighting ended while its host is still there: the service was withdrawn and is not expected back soon.
    case withdrawn(Sighting)
    /// A sighting ended because this machine's own interface went down; the service may well still exist.
    case hidden(Sighting)
    /// A sighted service was resolved at an origin, for the first time or with other values.
    case resolved(Resolution)
    /// A sighted service did not answer on any path of an origin. The engine keeps trying while the query watches.
    case resolutionFailed(ServiceInstance, Origin)
    /// A service as another process has merged it from all its origins, for the first time or with other values: it is reported as it is, at once.
    case merged(DiscoveredService)
    /// A merged service has ended. Its end was held back already.
    case gone(ServiceInstance)
    /// The backend's first answer is complete: every sighting it knew has been reported, though not yet resolved. Comes
    /// once each time the backend comes up, after its sightings.
    case listed
    /// The backend started or stopped answering. After `up` everything is reported again, then `.listed`.
    case backend(EngineState)
    /// Something was left out; the text says what and why.
    case degraded(String)
}

/// What a finder reports about keys that are either present or absent: types and domains.
public enum PresenceFact<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The key was seen at an origin.
    case appeared(Key, Origin)
    /// The key is gone from an origin.
    case disappeared(Key, Origin)
    /// The key is out of sight because this machine's own interface went down; it may well still exist.
    case hidden(Key, Origin)
    /// The key is gone from every origin, and its end was held back already.
    case gone(Key)
    /// The backend's first answer is complete. Comes once each time the backend comes up.
    case listed
    /// The backend started or stopped answering. After `up` everything is reported again, then `.listed`.
    case backend(EngineState)
    /// Something was left out; the text says what and why.
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

/// The facts that every kind of query can report.
package protocol FinderFact: Sendable {
    static var listed: Self { get }
    static func backend(_ state: EngineState) -> Self
    static func degraded(_ text: String) -> Self
}

extension BrowseFact: FinderFact {}
extension PresenceFact: FinderFact {}
