#if Observability
public import CoreMetrics
internal import DNSSD
public import Discovery
internal import DiscoverySystem

/// Counts what a network does, with swift-metrics. No label has more values than are listed here, whatever the network
/// sends: names of services are in none.
///
/// | metric | labels |
/// |---|---|
/// | counter `discovery_services_found`, `discovery_services_lost` | `type`: the first 32 asked for, then `other` |
/// | counter `discovery_publications` | `state`: the seven of `PublicationStatus.State` |
/// | counter `discovery_dials` | `outcome`: the five of `EstablishmentReport.Outcome` |
/// | counter `discovery_degraded`, `discovery_backend_lost` | |
/// | timer `discovery_resolve_duration`, `discovery_connect_duration` | `outcome`: `success`, `failure` |
/// | meter `discovery_open_queries` | |
public final class MetricsObserver: DiscoveryObserver {
    /// The most types that have a label of their own.
    public static let maximumTypes = 32

    private struct State {
        var types: Set<String> = []
        var openQueries = 0
    }

    private let factory: any MetricsFactory
    private let state = Locked(State())
    private let openQueries: Meter

    /// Creates an observer.
    /// - Parameter factory: nil for the one that the process has chosen (`MetricsSystem`).
    public init(factory: (any MetricsFactory)? = nil) {
        self.factory = factory ?? MetricsSystem.factory
        openQueries = Meter(label: "discovery_open_queries", factory: self.factory)
    }

    /// Counts the observation.
    public func observed(_ observation: DiscoveryObservation) {
        switch observation {
        case .queryOpened: changeOpenQueries(by: 1)
        case .queryClosed: changeOpenQueries(by: -1)
        case .event(.found(let service), _): count("discovery_services_found", ("type", label(service)))
        case .event(.lost(let service), _): count("discovery_services_lost", ("type", label(service)))
        case .event(.degraded, _): count("discovery_degraded")
        case .event(.backend(.lost), _): count("discovery_backend_lost")
        case .event: break
        case .publication(_, let status): count("discovery_publications", ("state", status.state.word))
        case .resolved(_, let result, let took):
            record("discovery_resolve_duration", took, isSuccess: (try? result.get()) != nil)
        case .connected(_, let report, let error):
            for attempt in report.attempts { count("discovery_dials", ("outcome", attempt.outcome.rawValue)) }
            record("discovery_connect_duration", report.duration, isSuccess: error == nil)
        }
    }

    private func changeOpenQueries(by difference: Int) {
        // Set with the lock held: values must not overtake each other.
        state.withLock { state in
            state.openQueries += difference
            openQueries.set(state.openQueries)
        }
    }

    private func count(_ label: String, _ dimensions: (String, String)...) {
        Counter(label: label, dimensions: dimensions, factory: factory).increment()
    }

    private func record(_ label: String, _ duration: Duration, isSuccess: Bool) {
        let dimensions = [("outcome", isSuccess ? "success" : "failure")]
        Timer(label: label, dimensions: dimensions, factory: factory).recordNanoseconds(duration.wholeNanoseconds)
    }

    /// The type's label; `other` once there are too many, as those of a network with made-up types.
    private func label(_ service: DiscoveredService) -> String {
        let type = service.instance.type.description.lowercased()
        return state.withLock { state in
            if state.types.contains(type) { return type }
            guard state.types.count < Self.maximumTypes else { return "other" }
            state.types.insert(type)
            return type
        }
    }
}

extension PublicationStatus.State {
    fileprivate var word: String {
        switch self {
        case .waiting: "waiting"
        case .registering: "registering"
        case .established: "established"
        case .refused: "refused"
        case .conflicted: "conflicted"
        case .failed: "failed"
        case .withdrawn: "withdrawn"
        }
    }
}

extension Duration {
    /// Rounded down, from 0 to 2⁶³ − 1.
    var wholeNanoseconds: Int64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLarge || overflows ? .max : sum
    }
}
#endif
