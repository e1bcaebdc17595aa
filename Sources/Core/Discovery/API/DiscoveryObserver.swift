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
        case .changed(let changes): for change in changes { observed(.event(ServiceEvent(change), query)) }
        case .closed: observed(.queryClosed(query))
        }
    }
}
