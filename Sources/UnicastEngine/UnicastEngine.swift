public import DNSSD
public import Discovery

/// Services of every domain but `local`, through the DNS servers that exist: found by asking, published by signed updates.
public final class UnicastEngine: ServiceFinder, ServicePublisher {
    private let client: DNSClient
    private let finder: UnicastFinder
    private let publisher: UnicastPublisher

    /// Creates an engine.
    /// - Parameter domains: what is known of some domains beforehand; of several that cover a name, the longest counts.
    public init(domains: [DomainSettings]) {
        let client = DNSClient()
        self.client = client
        finder = UnicastFinder(domains: domains, exchange: client) {
            Surroundings(
                searchDomains: client.resolverSettings.search,
                networks: Surroundings.networks(of: LocalAddresses.system()))
        }
        let zones = ZoneFinder(exchange: client)
        publisher = UnicastPublisher(domains: domains, exchange: client) { domain, server throws(DiscoveryError) in
            // It is asked for when it is not known, or seems to have moved.
            zones.forget(domain)
            let zone = try await zones.zone(of: domain, server: server)
            guard let first = zone.servers.first else {
                throw DiscoveryError(.misconfigured, "the zone of \(domain) has no server")
            }
            return ZoneLocation(zone: zone.name, server: first)
        }
    }

    /// Every domain but `local`.
    public func finds(in domain: Domain) -> Bool { finder.finds(in: domain) }

    /// Domains within one that there is a key for.
    public func publishes(in domain: Domain) -> Bool { publisher.publishes(in: domain) }

    /// How publishing stands, for each zone in which something is published.
    public var zones: [ZoneStatus] { publisher.zones }

    /// Those of the finder.
    public func limits(in domain: Domain) -> DiscoveryLimits { finder.limits(in: domain) }

    /// Asks again for the records of a service that could not be reached.
    public func couldNotReach(_ instance: ServiceInstance) { finder.couldNotReach(instance) }

    /// Whether a resolver withholds a service's addresses.
    public func obstacle(to instance: ServiceInstance) -> DiscoveryError? { finder.obstacle(to: instance) }

    /// Asks the domain's servers, again and again.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation { finder.browse(query, reporting: reporting) }

    /// Asks the domain's servers, again and again.
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { finder.browseTypes(query, reporting: reporting) }

    /// Asks what the search domains and this host's networks recommend.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { finder.browseDomains(query, reporting: reporting) }

    /// Publishes with the key of the service's domain.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publisher.publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    /// Publishes a service of another host, as a gateway does; an error as of `publish(_:onConflict:isPersistent:reporting:)`.
    package func publish(
        _ service: OfferedService, on host: ZoneHost, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publisher.publish(
            service, on: host, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    /// A host for which services are published has other addresses.
    package func became(_ host: ZoneHost, in domain: Domain) { publisher.became(host, in: domain) }

    /// Follows the finder.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        finder.watchState(reporting)
    }

    /// Those of finder and publisher.
    public var troubles: [String] { finder.troubles + publisher.troubles }

    /// Withdraws what is published, and ends.
    @discardableResult
    public func shutdown() async -> Bool {
        async let found = finder.shutdown()
        async let published = publisher.shutdown()
        let ends = await (found, published)
        await client.shutdown()
        return ends.0 && ends.1
    }
}
