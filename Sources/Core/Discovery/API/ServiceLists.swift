public import DNSSD

/// The services that are there now, as a sorted list, each time it changes: the form for an interface. Cold, as `EventStream` is.
///
/// The first list comes with the first services, or empty once it is known that there are none. A slow reader misses lists, never the
/// newest. Services are kept while the backend is away; the events tell of that, and of when a list is complete
/// (`LocalNetwork.browse`).
public struct ServiceLists: AsyncSequence, Sendable {
    /// The services, ordered by domain, type and name.
    public typealias Element = [DiscoveredService]
    /// As of the events.
    public typealias Failure = DiscoveryError

    private let events: ServiceEvents

    init(_ events: ServiceEvents) { self.events = events }

    /// Starts the query.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: events.makeAsyncIterator()) }

    /// Returns the lists one after another; for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var events: ServiceEvents.AsyncIterator
        private var list = SortedServices()

        init(events: ServiceEvents.AsyncIterator) { self.events = events }

        /// The next list; nil when the task is cancelled.
        public mutating func next() async throws(DiscoveryError) -> [DiscoveredService]? {
            while let batch = try await events.nextBatch(atMost: .max) {
                if list.apply(batch) { return list.services }
            }
            return nil
        }

        /// The next list; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DiscoveryError) -> [DiscoveredService]? {
            while let batch = try await events.nextBatch(atMost: .max) {
                if list.apply(batch) { return list.services }
            }
            return nil
        }
    }
}

extension EventStream where Event == ServiceEvent {
    /// The same services as lists: `network.browseAll().lists`.
    public var lists: ServiceLists { ServiceLists(self) }
}

extension LocalNetwork {
    /// The services of one type as a list, whenever it changes.
    public func services(
        of type: ServiceType,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceLists {
        browse(type, in: domain, on: interfaces, over: family, resolution: resolution).lists
    }

    /// The services that match a query as a list, whenever it changes.
    public func services(matching query: ServiceQuery) -> ServiceLists { browse(query).lists }
}

/// The services of a stream of events: sorted, each once.
package struct SortedServices: Hashable, Sendable {
    /// The services, ordered by domain, type and name.
    package private(set) var services: [DiscoveredService] = []
    private var isTold = false

    package init() {}

    /// Applies events.
    /// - Returns: whether there is a list to report: it changed, or is the first, and known to be complete.
    package mutating func apply(_ events: [ServiceEvent]) -> Bool {
        var hasNews = false
        for event in events {
            switch event {
            case .found(let service), .changed(let service): hasNews = put(service) || hasNews
            case .lost(let service): hasNews = remove(service.instance) || hasNews
            case .settled: hasNews = hasNews || !isTold
            case .backend, .degraded: continue
            }
        }
        isTold = isTold || hasNews
        return hasNews
    }

    private mutating func put(_ service: DiscoveredService) -> Bool {
        let index = index(of: service.instance)
        guard index < services.count, services[index].instance == service.instance else {
            services.insert(service, at: index)
            return true
        }
        guard services[index] != service else { return false }
        services[index] = service
        return true
    }

    private mutating func remove(_ instance: ServiceInstance) -> Bool {
        let index = index(of: instance)
        guard index < services.count, services[index].instance == instance else { return false }
        services.remove(at: index)
        return true
    }

    /// Where a service is, or belongs.
    private func index(of instance: ServiceInstance) -> Int {
        services.partitioningIndex { !($0.instance < instance) }
    }
}
