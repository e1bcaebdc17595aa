public import DNSSD
import DiscoveryPOSIX

/// Finds, resolves and publishes services on the local network.
///
/// A process needs only one: however many callers ask the same question, the network is asked once. Safe to use from
/// any thread.
public final class LocalNetwork: Sendable {
    package let directory: Directory

    /// Creates a network over an engine, which it then owns and ends with `shutdown`.
    /// - Parameters:
    ///   - engine: finds and publishes.
    ///   - limits: times and bounds for every query; nil for the engine's own for each domain.
    ///   - time: the clock; a test turns its own.
    ///   - observer: is told what happens; nil costs nothing.
    public init(
        engine: any DiscoveryEngine,
        limits: DiscoveryLimits? = nil,
        time: any TimeSource = SystemTime(),
        observer: (any DiscoveryObserver)? = nil
    ) {
        directory = Directory(engine: engine, limits: limits, time: time, observer: observer)
    }

    /// The services of one type, as they come, change and go.
    public func browse(
        _ type: ServiceType,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceEvents {
        browse(ServiceQuery(.type(type, domain), interfaces: interfaces, family: family, resolution: resolution))
    }

    /// The services that match a query, as they appear, change and go.
    public func browse(_ query: ServiceQuery) -> ServiceEvents {
        ServiceEvents { [directory] in
            directory.services.subscribe(query, directory.makeSubscriber())
        }
    }

    /// The services of every type, of at most `DiscoveryLimits.types` types. `settled` follows when each of the first
    /// types has settled.
    public func browseAll(
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceEvents {
        let types = TypeQuery(domain: domain, interfaces: interfaces, family: family)
        return ServiceEvents { [directory] in
            AllServices.subscribe(directory, types: types, resolution: resolution)
        }
    }

    /// Like `browse`, for callers that serve others: `settled` is repeated each time the backend has come back.
    package func follow(_ query: ServiceQuery) -> ServiceEvents {
        ServiceEvents { [directory] in
            directory.services.subscribe(query, directory.makeSubscriber(repeatsSettled: true))
        }
    }

    /// Whether an open query has seen services that it has not reported yet; a query that does not resolve reports them
    /// earlier.
    package func isCatchingUp(_ query: ServiceQuery) -> Bool {
        directory.services.look(query) { $0.isCatchingUp } ?? false
    }

    /// The same for any query.
    package var isCatchingUpAnywhere: Bool {
        directory.services.contains { $0.isCatchingUp }
    }

    /// Has a listener follow a query, until the membership ends.
    package func follow(
        _ query: ServiceQuery, by listener: any Listener<DiscoveredService>
    ) -> Membership { directory.services.join(query, listener) }

    /// Has a listener follow the services of all types, until the membership ends.
    package func followAll(
        _ types: TypeQuery, resolution: ServiceQuery.Resolution, by listener: any Listener<DiscoveredService>
    ) -> Membership { AllServices.join(directory, types: types, resolution: resolution, listener) }

    /// The types that have services.
    public func types(_ query: TypeQuery = TypeQuery()) -> TypeEvents {
        TypeEvents(ServiceTypeEvent.init) { [directory] in
            directory.types.subscribe(query, directory.makeSubscriber())
        }
    }

    /// Returns whether the engine answers questions about a domain.
    package func finds(in domain: Domain) -> Bool { directory.engine.finds(in: domain) }

    /// The domains recommended for browsing or registering (RFC 6763 §11).
    public func domains(_ query: DomainQuery) -> DomainEvents {
        DomainEvents(DomainEvent.init) { [directory] in
            directory.domains.subscribe(query, directory.makeSubscriber())
        }
    }

    /// The state of the backend, as it changes. Queries nothing.
    public func backendStates() -> BackendStates {
        BackendStates(backendState) { [directory] in directory.watchBackend() }
    }

    /// Publishes a service until the publication is withdrawn or dropped.
    /// - Parameters:
    ///   - service: what is published.
    ///   - policy: what happens when the name is taken.
    ///   - isPersistent: keeps the publication through refusals: if the backend refuses it, or its name is taken with
    ///     `.fail`, it becomes `.refused` and is retried. Otherwise that ends a publication that was never established.
    public func publish(
        _ service: OfferedService,
        onConflict policy: ConflictPolicy = .rename,
        isPersistent: Bool = false
    ) -> Publication {
        Publication(core: directory.publish(service, onConflict: policy, isPersistent: isPersistent))
    }

    /// Publishes a service while `body` runs. Withdraws it with goodbyes, even if `body` throws or is cancelled.
    public func withPublished<Result>(
        _ service: OfferedService,
        onConflict policy: ConflictPolicy = .rename,
        _ body: (Publication) async throws -> Result
    ) async throws -> Result {
        let publication = publish(service, onConflict: policy)
        do {
            let result = try await body(publication)
            await publication.withdraw()
            return result
        } catch {
            await publication.withdraw()
            throw error
        }
    }

    /// Ends everything: withdraws publications, makes iterators throw `.closed`, and shuts down the engine.
    /// - Returns: whether the backend confirmed within 2 s, a DNS server that goes on answering within 8 s; for publications, that goodbyes were
    ///   sent.
    @discardableResult
    public func shutdown() async -> Bool { await directory.shutDown() }
}

@Sendable private func backendState(_ change: Change<NoListing>) -> BackendState? {
    if case .backend(let state) = change { state } else { nil }
}

extension LocalNetwork {
    /// The endpoints of a service that `policy` lets this machine dial now, in the order in which to dial them (RFC 6724
    /// §6, RFC 2782, RFC 8305 §4): for clients that make their own connections.
    ///
    /// Judge again before each use, for addresses and routes of this machine change. `connect` does all of this itself.
    public func endpoints(
        of service: DiscoveredService,
        permittedBy policy: AddressPolicy,
        over family: IPAddress.Family? = nil
    ) -> [Endpoint] {
        endpoints(of: service, permittedBy: policy, over: family, local: .system(), routes: SystemRoutes())
    }

    package func endpoints(
        of service: DiscoveredService,
        permittedBy policy: AddressPolicy,
        over family: IPAddress.Family?,
        local: LocalAddresses,
        routes: some RouteLookup
    ) -> [Endpoint] {
        var candidates = Candidates()
        candidates.apply(.found(service))
        let order = EndpointOrder(local: local, history: directory.history.withLock { $0 })
        return candidates.judged(by: policy, order, routes, family: family, now: directory.time.now)
            .permitted.map(\.endpoint)
    }
}

// A type that stands in the program's text needs no `try`. Text from elsewhere is no `StaticString`, and goes through `ServiceType.init(_:)`
// (docs/decisions/0054-first-contact.md).
extension LocalNetwork {
    /// The services of one type, as they come, change and go: `browse("_witap._tcp")`.
    ///
    /// If the literal is no type, iterating throws `.invalidServiceType`, with the rule that it breaks.
    public func browse(
        _ literal: StaticString,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceEvents {
        do throws(DiscoveryError) {
            let type = try ServiceType(literal.description)
            return browse(type, in: domain, on: interfaces, over: family, resolution: resolution)
        } catch {
            return ServiceEvents(failing: error)
        }
    }

    /// The services of one type as a list, whenever it changes: `services(of: "_witap._tcp")`.
    ///
    /// If the literal is no type, iterating throws `.invalidServiceType`, with the rule that it breaks.
    public func services(
        of literal: StaticString,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceLists {
        browse(literal, in: domain, on: interfaces, over: family, resolution: resolution).lists
    }
}

extension LocalNetwork {
    /// How long a backend may take to start (by D-Bus activation) before it counts as absent.
    static let backendPatience: Duration = .seconds(2)

    /// How long other interfaces may lag behind the first that answered.
    private static let laggards: Duration = .milliseconds(400)

    /// Resolves one service, with every address at which it can be dialled.
    /// - Throws: `.timedOut` if nothing answers within `limit`; `.notFound` if the service answered and then went away;
    ///   `.backendUnavailable`, after 2 s or `limit`; `.addressesWithheld`; `.closed` if the task is cancelled or the network shut down.
    public func resolve(
        _ instance: ServiceInstance,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        within limit: Duration
    ) async throws(DiscoveryError) -> DiscoveredService {
        let query = ServiceQuery(.instance(instance), interfaces: interfaces, family: family, resolution: .once)
        guard let observer = directory.observer else { return try await answer(to: query, instance, within: limit) }
        let start = directory.time.now
        let result: Result<DiscoveredService, DiscoveryError>
        do throws(DiscoveryError) {
            result = .success(try await answer(to: query, instance, within: limit))
        } catch {
            result = .failure(error)
        }
        observer.observed(.resolved(instance, result, took: directory.time.now - start))
        return try result.get()
    }

    private func answer(
        to query: ServiceQuery, _ instance: ServiceInstance, within limit: Duration
    ) async throws(DiscoveryError) -> DiscoveredService {
        let subscription = directory.services.subscribe(query, directory.makeSubscriber())
        let start = directory.time.now
        var deadline = start + limit
        var unavailable: String?
        var notice: String?
        var isSettled = false
        var seen: DiscoveredService?
        var answer: DiscoveredService?
        while let changes = try await subscription.next(atMost: 1, until: deadline) {
            switch changes.first {
            case .found(let service), .changed(let service):
                seen = service
                guard service.state == .resolved || service.state == .unavailable else { continue }
                if isSettled { return try dialable(service) }
                if answer == nil { deadline = min(deadline, directory.time.now + Self.laggards) }
                answer = service
            case .lost:
                throw DiscoveryError(.notFound, "\"\(instance.name)\" (\(instance.type)) is gone")
            case .backend(.unavailable(let reason)), .backend(.lost(let reason)):
                unavailable = reason
                deadline = min(start + limit, directory.time.now + Self.backendPatience)
            case .backend(.available), .backend(.recovered):
                unavailable = nil
                deadline = start + limit
            case .settled:
                if let answer { return try dialable(answer) }
                isSettled = true
            case .degraded(let reason): notice = reason
            case nil:
                if let answer { return try dialable(answer) }
                if let unavailable { throw DiscoveryError(.backendUnavailable, unavailable) }
                let what =
                    switch seen {
                    case nil: "was not found"
                    case let seen? where seen.host == nil: "is announced, and did not answer"
                    case .some: "is there, and its host gave no address"
                    }
                let why = notice.map { " (\($0))" } ?? ""
                throw DiscoveryError(
                    .timedOut, "\"\(instance.name)\" (\(instance.type)) \(what) within \(limit.rounded)\(why)")
            }
        }
        throw DiscoveryError(.closed, "resolving \(instance.name) was cancelled")
    }

    /// A service without addresses is no answer if a resolver is known to withhold them.
    private func dialable(_ service: DiscoveredService) throws(DiscoveryError) -> DiscoveredService {
        guard service.endpoints.isEmpty, service.port != nil, let reason = service.withheld else { return service }
        throw DiscoveryError(.addressesWithheld, reason)
    }
}
