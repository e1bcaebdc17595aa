import DNSMessage
public import DNSSD
public import Discovery
import DiscoverySystem
import Records

/// Finds and publishes services in every domain except `local`, with ordinary DNS servers: by questions and signed
/// updates.
public final class UnicastEngine: ServiceFinder, ServicePublisher {
    private struct State {
        var lastID: UInt64 = 0
        /// Nil once the engine has ended.
        var queries: [UInt64: any FinderQuery]? = [:]
    }

    private let directory: ServerDirectory
    private let publisher: UnicastPublisher
    private let time: any TimeSource
    private let alarmClock: AlarmClock
    /// Tells the services of this machine; nil: there are none.
    private let own: OwnServices?
    private let surroundings: @Sendable () -> Surroundings
    private let closing: @Sendable () async -> Void
    /// Whether the last question was answered; up while there are no queries.
    private let health = StateWatchers(.up, tellsReasons: false)
    private let state = Locked(State())

    /// Creates an engine, and starts its thread.
    /// - Parameter domains: the settings of domains; for a name within several of them, the longest counts.
    public convenience init(domains: [DomainSettings]) {
        self.init(domains: domains, stateDirectory: Environment.stateDirectory)
    }

    /// - Parameter stateDirectory: where the publisher's id is kept; nil for nowhere.
    package convenience init(domains: [DomainSettings], stateDirectory: String?) {
        let client = DNSClient()
        self.init(domains: domains, exchange: client, stateDirectory: stateDirectory) {
            Surroundings(
                searchDomains: client.resolverSettings.search,
                networks: Surroundings.networks(of: LocalAddresses.system()))
        } closing: {
            await client.shutdown()
        }
    }

    /// - Parameters:
    ///   - exchange: carries questions and updates.
    ///   - time: the clock.
    ///   - surroundings: returns where this host is; called for each query for domains.
    ///   - closing: called at the end, when nothing is to be carried any more.
    init(
        domains: [DomainSettings], exchange: any DNSExchange, time: any TimeSource = SystemTime(),
        stateDirectory: String? = nil, surroundings: @escaping @Sendable () -> Surroundings,
        closing: @escaping @Sendable () async -> Void = {}
    ) {
        directory = ServerDirectory(domains, exchange: exchange)
        (self.time, self.surroundings, self.closing) = (time, surroundings, closing)
        alarmClock = AlarmClock(time: time)
        own = stateDirectory.map { OwnServices(directory: $0) }
        let zones = ZoneFinder(exchange: exchange)
        publisher = UnicastPublisher(domains: domains, exchange: exchange, time: time, directory: stateDirectory) {
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

    /// Returns true for every domain except those within `local`, which no DNS server serves (RFC 6762 §3).
    public func finds(in domain: Domain) -> Bool { !domain.isWithin(.local) }

    /// Returns whether the settings have a key for a domain.
    public func publishes(in domain: Domain) -> Bool { publisher.publishes(in: domain) }

    /// Signs with other keys from the next message on, and tries at once what was refused.
    /// - Parameter keys: by the domain of the settings that they belong to; settings without a new key keep theirs.
    /// - Returns: the domains whose key has changed.
    @discardableResult
    public func replaceKeys(_ keys: [Domain: TSIGKey]) -> [Domain] { publisher.replaceKeys(keys) }

    /// The status of publishing, by domain.
    public var zones: [ZoneStatus] { publisher.zones }

    /// Asks for services. The query's interfaces are ignored, because a server is on no link.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        start(ServerBrowse(query, own: own), reporting)
    }

    /// Asks for the types of services (RFC 6763 §9).
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        start(ServerBrowse(ListGraph<TypeKey>(typesIn: query.domain, at: .unicast)), reporting)
    }

    /// Asks for the domains that are recommended where this host is, or by the domains that are named (RFC 6763 §11). They
    /// are only reported, not browsed.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        let names =
            query.recommenders.isEmpty
            ? surroundings().names(for: query.purpose)
            : Surroundings(searchDomains: query.recommenders, networks: []).names(for: query.purpose)
        return start(
            ServerBrowse(
                ListGraph(names, at: .unicast) { listed in
                    Domain(labels: listed.labels).flatMap { $0 == .local ? nil : $0 }
                }), reporting)
    }

    /// Asks again for the records of a service that could not be reached.
    public func couldNotReach(_ instance: ServiceInstance) {
        for query in state.withLock({ Array(($0.queries ?? [:]).values) }) { query.verify(instance) }
    }

    /// Publishes with the key of the service's domain, on this machine or an alias of it.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publisher.publish(
            service, on: nil, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
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
        health.watch(reporting)
    }

    /// Whether `shutdown` has begun, and still takes records back.
    package var isEnding: Bool { publisher.isEnding }

    /// The current reasons why answers may be incomplete, each once, and why publishing is in doubt.
    public var troubles: [String] {
        let queries = state.withLock { ($0.queries ?? [:]).sorted { $0.key < $1.key }.map(\.value) }
        var known: Set<String> = []
        return queries.flatMap(\.troubles).filter { known.insert($0).inserted } + publisher.troubles
    }

    /// Queries and registrations, for tests that look for leaks.
    package var openObjects: Int {
        state.withLock { $0.queries?.count ?? 0 } + zones.reduce(0) { $0 + $1.registrations.count }
    }

    /// Withdraws all services, and ends.
    @discardableResult
    public func shutdown() async -> Bool {
        let queries = state.withLock { state in
            defer { state.queries = nil }
            return state.queries ?? [:]
        }
        for query in queries.values { query.end() }
        let isNoted = await publisher.shutdown()
        await closing()
        return isNoted
    }

    private func start<Graph: ServerGraph>(
        _ rules: ServerBrowse<Graph>, _ reporting: @escaping @Sendable ([Graph.Fact]) -> Void
    ) -> any EngineOperation {
        let operation = FinderOperation(
            rules, time: time,
            ask: { [directory, health] question in
                let (reading, failure) = await directory.ask(question)
                if case .silent(let reason) = failure, !Task.isCancelled { health.became(.down(reason)) }
                if failure == nil { health.became(.up) }
                return reading
            },
            report: reporting)
        let id = state.withLock { state -> UInt64? in
            guard state.queries != nil else { return nil }
            state.lastID += 1
            state.queries?[state.lastID] = operation
            return state.lastID
        }
        guard let id else { return Ending {} }
        operation.start(alarmClock)
        // The handle keeps the engine alive.
        return Ending { [self] in end(id) }
    }

    private func end(_ id: UInt64) {
        let (query, isIdle) = state.withLock { ($0.queries?.removeValue(forKey: id), $0.queries?.isEmpty ?? true) }
        query?.end()
        if isIdle { health.became(.up) }
    }
}
