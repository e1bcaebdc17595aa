public import DNSSD
public import Discovery
import DiscoverySystem

/// Finds and publishes services in every domain except `local`, with ordinary DNS servers: by questions and signed
/// updates.
public final class UnicastEngine: ServiceFinder, ServicePublisher {
    private let client: DNSClient
    private let finder: UnicastFinder
    private let publisher: UnicastPublisher

    /// Creates an engine, and starts its thread.
    /// - Parameter domains: the settings of domains; for a name within several of them, the longest counts.
    public convenience init(domains: [DomainSettings]) {
        self.init(domains: domains, stateDirectory: Environment.stateDirectory)
    }

    /// - Parameter stateDirectory: where the publisher's id is kept; nil for nowhere.
    package init(domains: [DomainSettings], stateDirectory: String?) {
        let client = DNSClient()
        self.client = client
        finder = UnicastFinder(domains: domains, exchange: client, own: OwnServices(directory: stateDirectory)) {
            Surroundings(
                searchDomains: client.resolverSettings.search,
                networks: Surroundings.networks(of: LocalAddresses.system()))
        }
        let zones = ZoneFinder(exchange: client)
        publisher = UnicastPublisher(domains: domains, exchange: client, directory: stateDirectory) {
            domain, server throws(DiscoveryError) in
            // A runner asks only if it does not know the zone, or if the zone seems to have moved.
            try await zones.zone(of: domain, server: server)
        }
    }

    /// A server that is far, or has many names to answer for, takes longer than a link; what it does not have it says at once.
    public func limits(in domain: Domain) -> DiscoveryLimits {
        var limits = DiscoveryLimits()
        limits.resolutionLimit = .seconds(20)
        return limits
    }

    /// Returns true for every domain except those within `local`.
    public func finds(in domain: Domain) -> Bool { finder.finds(in: domain) }

    /// Returns whether the settings have a key for a domain.
    public func publishes(in domain: Domain) -> Bool { publisher.publishes(in: domain) }

    /// Signs with other keys from the next message on, and tries at once what was refused.
    /// - Parameter keys: by the domain of the settings that they belong to; settings without a new key keep theirs.
    /// - Returns: the domains whose key has changed.
    @discardableResult
    public func replaceKeys(_ keys: [Domain: TSIGKey]) -> [Domain] { publisher.replaceKeys(keys) }

    /// The status of publishing, by domain.
    public var zones: [ZoneStatus] { publisher.zones }

    /// Asks again for the records of a service that could not be reached.
    public func couldNotReach(_ instance: ServiceInstance) { finder.couldNotReach(instance) }

    /// Asks the domain's servers, again and again.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation { finder.browse(query, reporting: reporting) }

    /// Asks the domain's servers, again and again.
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { finder.browseTypes(query, reporting: reporting) }

    /// Asks which domains the search domains and this host's networks recommend.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { finder.browseDomains(query, reporting: reporting) }

    /// Publishes with the key of the service's domain, on this machine or an alias of it.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publisher.publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    /// Publishes a service of another host, as a gateway does; otherwise like
    /// `publish(_:onConflict:isPersistent:reporting:)`.
    package func publish(
        _ service: OfferedService, on host: ZoneHost, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publisher.publish(
            service, on: host, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    /// Publishes other addresses of a host for which services are published.
    package func became(_ host: ZoneHost, in domain: Domain) { publisher.became(host, in: domain) }

    /// Reports whether servers answer the finder.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        finder.watchState(reporting)
    }

    /// Whether `shutdown` has begun, and still takes records back.
    package var isEnding: Bool { publisher.isEnding }

    /// The troubles of finder and publisher.
    public var troubles: [String] { finder.troubles + publisher.troubles }

    /// Queries and registrations, for tests that look for leaks.
    package var openObjects: Int { finder.openObjects + zones.reduce(0) { $0 + $1.registrations.count } }

    /// Withdraws all services, and ends.
    @discardableResult
    public func shutdown() async -> Bool {
        async let found = finder.shutdown()
        async let published = publisher.shutdown()
        let ends = await (found, published)
        await client.shutdown()
        return ends.0 && ends.1
    }
}
