import DNSSD
package import DiscoveryPOSIX

/// All open queries and publications of one `LocalNetwork`.
package final class Directory: Sendable {
    package let engine: any DiscoveryEngine
    /// The limits for queries in a domain.
    let limits: @Sendable (Domain) -> DiscoveryLimits
    package let time: any TimeSource
    let observer: (any DiscoveryObserver)?
    package let alarmClock: AlarmClock
    package let services: QueryTable<ServiceQuery, Catalog>
    package let types: QueryTable<TypeQuery, TypeCatalog>
    package let domains: QueryTable<DomainQuery, DomainCatalog>
    /// Which endpoints could recently be dialled.
    package let history = Locked(EndpointHistory())
    /// Which services could not be reached.
    package let reachability: Reachability
    private let publications = Locked(Publications())
    let watchers = Locked(BackendWatchers())

    private struct Publications {
        var lastID: UInt64 = 0
        var cores: [UInt64: PublicationCore] = [:]
        var isClosed = false
    }

    package init(
        engine: any DiscoveryEngine,
        limits fixed: DiscoveryLimits?,
        time: any TimeSource,
        observer: (any DiscoveryObserver)? = nil
    ) {
        self.engine = engine
        self.observer = observer
        let limits: @Sendable (Domain) -> DiscoveryLimits = { fixed ?? engine.limits(in: $0) }
        self.limits = limits
        self.time = time
        let alarmClock = AlarmClock(time: time)
        self.alarmClock = alarmClock
        let reachability = Reachability(time: time)
        self.reachability = reachability
        var observe: QueryTable<ServiceQuery, Catalog>.Observe?
        if let observer { observe = { query, news in observer.observed(news, of: query) } }
        services = QueryTable(
            time: time, alarmClock: alarmClock,
            makeCatalog: { Catalog($0, limits: limits($0.domain), unreachable: reachability.marked) },
            open: { engine.browse($0, reporting: $1) }, observe: observe)
        types = QueryTable(
            time: time, alarmClock: alarmClock, makeCatalog: { TypeCatalog(limits: limits($0.domain)) },
            open: { engine.browseTypes($0, reporting: $1) })
        domains = QueryTable(
            time: time, alarmClock: alarmClock, makeCatalog: { _ in DomainCatalog(limits: limits(.local)) },
            open: { engine.browseDomains($0, reporting: $1) })
    }

    package func makeSubscriber<Value>(repeatsSettled: Bool = false) -> Subscriber<Value> {
        Subscriber(time: time, alarmClock: alarmClock, repeatsSettled: repeatsSettled)
    }

    func publish(_ service: OfferedService, onConflict policy: ConflictPolicy, isPersistent: Bool) -> PublicationCore {
        let core = PublicationCore(service: service, time: time, observer: observer)
        let id = publications.withLock { publications -> UInt64? in
            guard !publications.isClosed else { return nil }
            publications.lastID += 1
            publications.cores[publications.lastID] = core
            return publications.lastID
        }
        guard let id else {
            core.reported(
                PublicationFact(name: service.name, state: .failed(DiscoveryError(.closed, "the engine was shut down")))
            )
            return core
        }
        core.whenEnded { [weak self] in
            self?.publications.withLock { $0.cores[id] = nil }
        }
        do throws(DiscoveryError) {
            // A literal or a subscript has checked nothing.
            try service.txt.check()
            if let fault = service.aliasFault { throw fault }
        } catch {
            core.reported(PublicationFact(name: service.name, state: .failed(error)))
            return core
        }
        core.start { [engine] service, report in
            engine.publish(service, onConflict: policy, isPersistent: isPersistent, reporting: report)
        }
        return core
    }

    func shutDown() async -> Bool {
        let cores = publications.withLock { publications in
            publications.isClosed = true
            return Array(publications.cores.values)
        }
        reachability.shutDown()
        services.shutDown()
        types.shutDown()
        domains.shutDown()
        shutDownWatchers()
        let isDone = await engine.shutdown()
        for core in cores { core.withdrawn() }
        return isDone
    }
}

extension Directory {
    /// Follows the state of the engine's backend without opening a query.
    func watchBackend() -> Subscription<NoListing> {
        let subscriber: Subscriber<NoListing> = makeSubscriber()
        let watch = Locked(BackendWatch())
        let operation = engine.watchState { [time] state in
            guard let news = watch.withLock({ $0.became(state) }) else { return }
            subscriber.receive([.backend(news)], now: time.now)?()
        }
        let id = watchers.withLock { watchers -> UInt64? in
            guard !watchers.isClosed else { return nil }
            watchers.lastID += 1
            watchers.subscribers[watchers.lastID] = subscriber
            return watchers.lastID
        }
        if id == nil { subscriber.shutDown()?() }
        let membership = Membership { [watchers] in
            operation.cancel()
            if let id { watchers.withLock { $0.subscribers[id] = nil } }
        }
        return Subscription(subscriber: subscriber, membership: membership)
    }

    func shutDownWatchers() {
        let subscribers = watchers.withLock { watchers in
            watchers.isClosed = true
            defer { watchers.subscribers = [:] }
            return Array(watchers.subscribers.values)
        }
        for subscriber in subscribers { subscriber.shutDown()?() }
    }
}

/// The subscribers that follow the backend.
struct BackendWatchers: Sendable {
    var lastID: UInt64 = 0
    var subscribers: [UInt64: Subscriber<NoListing>] = [:]
    var isClosed = false
}

/// The value of a stream that reports only states of the backend.
package enum NoListing: Listed {
    package var key: Never { switch self {} }
}
