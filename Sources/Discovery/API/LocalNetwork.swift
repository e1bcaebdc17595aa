public import DNSSD

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
        ServiceEvents(ServiceEvent.init) { [directory] in
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
        return ServiceEvents(ServiceEvent.init) { [directory] in
            AllServices.subscribe(directory, types: types, resolution: resolution)
        }
    }

    /// Like `browse`, for callers that serve others: `settled` is repeated each time the backend has come back.
    package func follow(_ query: ServiceQuery) -> ServiceEvents {
        ServiceEvents(ServiceEvent.init) { [directory] in
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
    ) -> Membership { AllServices.join(directory, types: types, resolution: resolution, listener).membership }

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
    /// - Returns: whether the backend confirmed within 2 s; for publications, that goodbyes were sent.
    @discardableResult
    public func shutdown() async -> Bool { await directory.shutDown() }
}

@Sendable private func backendState(_ change: Change<NoListing>) -> BackendState? {
    if case .backend(let state) = change { state } else { nil }
}
