public import DNSSD

/// Finds, resolves and publishes services on the local network.
///
/// A process needs one: however many callers ask the same question, the network is asked once.
public final class LocalNetwork: Sendable {
    package let directory: Directory

    /// Creates a network over an engine, which this then owns: `shutdown` ends it.
    /// - Parameter limits: times and bounds for every query; nil: those that the engine has for its domain.
    public init(
        engine: any DiscoveryEngine,
        limits: DiscoveryLimits? = nil,
        time: any TimeSource = SystemTime()
    ) {
        directory = Directory(engine: engine, limits: limits, time: time)
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

    /// What answers a query, as it comes, changes and goes.
    public func browse(_ query: ServiceQuery) -> ServiceEvents {
        ServiceEvents(ServiceEvent.init) { [directory] in
            directory.services.subscribe(query, directory.makeSubscriber())
        }
    }

    /// The services of every type, `DiscoveryLimits.types` types at most. Settled when each of the first types is.
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

    /// As `browse`, for callers that serve others: `settled` comes again after each return of the backend.
    package func follow(_ query: ServiceQuery) -> ServiceEvents {
        ServiceEvents(ServiceEvent.init) { [directory] in
            directory.services.subscribe(query, directory.makeSubscriber(repeatsSettled: true))
        }
    }

    /// Whether an open query has seen services that it has not reported yet; a query that does not resolve reports them earlier.
    package func isCatchingUp(_ query: ServiceQuery) -> Bool {
        directory.services.look(query) { $0.isCatchingUp } ?? false
    }

    /// The same for any query.
    package var isCatchingUpAnywhere: Bool {
        directory.services.contains { $0.isCatchingUp }
    }

    /// As `browseAll`, for callers that serve others: `settled` comes again after each return of the backend.
    package func followAll(_ types: TypeQuery, resolution: ServiceQuery.Resolution) -> ServiceEvents {
        ServiceEvents(ServiceEvent.init) { [directory] in
            AllServices.subscribe(directory, types: types, resolution: resolution, repeatsSettled: true)
        }
    }

    /// The types that have services.
    public func types(_ query: TypeQuery = TypeQuery()) -> TypeEvents {
        TypeEvents(ServiceTypeEvent.init) { [directory] in
            directory.types.subscribe(query, directory.makeSubscriber())
        }
    }

    /// The domains that are recommended for browsing or registering (RFC 6763 §11).
    public func domains(_ query: DomainQuery) -> DomainEvents {
        DomainEvents(DomainEvent.init) { [directory] in
            directory.domains.subscribe(query, directory.makeSubscriber())
        }
    }

    /// Whether the backend answers, as it changes; nothing is asked of it.
    public func backendStates() -> BackendStates {
        BackendStates(backendState) { [directory] in directory.watchBackend() }
    }

    /// Publishes a service until the publication is withdrawn or dropped.
    /// - Parameter isPersistent: nothing else ends it: what the backend refuses, and a name that is taken with `.fail`, is `.refused` and
    ///   tried again. Without it that ends what was never established.
    public func publish(
        _ service: OfferedService,
        onConflict policy: ConflictPolicy = .rename,
        isPersistent: Bool = false
    ) -> Publication {
        Publication(core: directory.publish(service, onConflict: policy, isPersistent: isPersistent))
    }

    /// Publishes a service while `body` runs. It is withdrawn, with goodbyes, also when `body` throws or is cancelled.
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

    /// Ends everything: publications are withdrawn, iterators throw `.closed`, the engine is shut down.
    /// - Returns: whether the backend has taken note within 2 s, which for publications means that goodbyes are sent.
    @discardableResult
    public func shutdown() async -> Bool { await directory.shutDown() }
}

@Sendable private func backendState(_ change: Change<NoListing>) -> BackendState? {
    if case .backend(let state) = change { state } else { nil }
}
