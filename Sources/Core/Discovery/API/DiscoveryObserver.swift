public import DNSSD

/// Receives what a `LocalNetwork` does, for logs, metrics and traces. The product `DiscoveryObservability` has observers
/// for swift-log, swift-metrics and swift-distributed-tracing.
///
/// A network without an observer does no work for one.
public protocol DiscoveryObserver: Sendable {
    /// Takes an observation.
    ///
    /// Called on any thread, from several at once, with no lock held; those of one query may overtake each other. It
    /// must return at once: the caller waits. `.resolved` and `.connected` are reported within the task that asked, so
    /// that its task-local values, such as a trace's context, are those of the caller.
    func observed(_ observation: DiscoveryObservation)
}

/// What a network did or learned. The set may grow; switch with a `default`.
public enum DiscoveryObservation: Sendable {
    /// A question was put to the network. However many callers ask it, it is observed once.
    case queryOpened(ServiceQuery)
    /// What was found, changed or lost for a query: every event, though a slow iterator may see fewer.
    case event(ServiceEvent, ServiceQuery)
    /// No one asks any more.
    case queryClosed(ServiceQuery)
    /// The status of a publication changed.
    case publication(OfferedService, PublicationStatus)
    /// `resolve` ended.
    case resolved(ServiceInstance, Result<DiscoveredService, DiscoveryError>, took: Duration)
    /// An attempt to connect ended; with the error if there is no connection.
    case connected(ConnectTarget, EstablishmentReport, DiscoveryError?)
}

/// Several observers as one: each receives everything, in order.
public struct DiscoveryObservers: DiscoveryObserver {
    private let observers: [any DiscoveryObserver]

    /// Combines observers.
    public init(_ observers: any DiscoveryObserver...) { self.observers = observers }

    /// Passes the observation on.
    public func observed(_ observation: DiscoveryObservation) {
        for observer in observers { observer.observed(observation) }
    }
}

extension DiscoveryObserver {
    func observed(_ news: QueryNews<DiscoveredService>, of query: ServiceQuery) {
        switch news {
        case .opened: observed(.queryOpened(query))
        case .changed(let changes): for change in changes { observed(.event(change, query)) }
        case .closed: observed(.queryClosed(query))
        }
    }
}

/// Bounds on what the network can make a process keep, and times that hide short disturbances.
public struct DiscoveryLimits: Hashable, Sendable {
    /// The most services kept per query.
    public var services = 4096
    /// Services of one host (SRV target) that a full query keeps when other hosts need room; while there is room, a
    /// host may have any number.
    public var servicesPerHost = 64
    /// The most addresses kept per host.
    public var addressesPerHost = 32
    /// The most types that `browseAll` browses for.
    public var types = 256
    /// How long a service must be gone before its removal is reported. Avahi adds a second of its own (RFC 6762 §10.1).
    public var removalHold: Duration = .milliseconds(3100)
    /// The same for a service withdrawn while its host stays, which a finder reports a second after the goodbye (RFC
    /// 6762 §10.1): by then a restarted program has announced its service again.
    public var withdrawalHold: Duration = .milliseconds(280)
    /// The same while this machine's own interface is down: after an interruption of 3 s, Avahi needs 2 s more to find
    /// services again.
    public var linkHold: Duration = .seconds(10)
    /// How long some of a host's addresses must be gone before they are removed; for all of them it is `removalHold`.
    public var addressHold: Duration = .milliseconds(1500)
    /// How long `found` waits for a service to be resolved.
    public var resolutionLimit: Duration = .seconds(6)
    /// How long `found` waits for further interfaces when services are not resolved.
    public var sightingWindow: Duration = .milliseconds(30)
    /// The time between two changes of one service, or its end and its return, that are reported. Two changes may come
    /// at once, as a service on two links changes on each by itself; the third then comes an interval after the first.
    public var changeInterval: Duration = .seconds(1)
    /// The shortest time between two notices of the same kind.
    public var noticeInterval: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
