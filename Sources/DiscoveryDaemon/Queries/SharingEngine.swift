package import DNSSD
package import Discovery
import DiscoverySystem

/// Answers queries for names alone from an open query that resolves the same services, if there is one: what that query has
/// seen is available however far behind its resolving is, and the backend is not asked twice
/// (docs/decisions/0023-names-from-the-query-that-resolves.md).
package final class SharingEngine: DiscoveryEngine {
    private let engine: any DiscoveryEngine
    private let shared = Locked<[ServiceQuery: SharedBrowse]>([:])

    package init(_ engine: any DiscoveryEngine) { self.engine = engine }

    package func browse(
        _ query: ServiceQuery, reporting report: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        guard case .type = query.target else { return engine.browse(query, reporting: report) }
        switch query.resolution {
        case .once: return engine.browse(query, reporting: report)
        case .none:
            var resolving = query
            resolving.resolution = .watch
            return shared.withLock { $0[resolving] }?.join(report) ?? engine.browse(query, reporting: report)
        case .watch:
            let browse = SharedBrowse(query) { [engine] query, report in
                engine.browse(query, reporting: report)
            } troubles: { [engine] in
                engine.troubles
            } whenClosed: { [weak self] closed in
                self?.shared.withLock { if $0[query] === closed { $0[query] = nil } }
            }
            shared.withLock { $0[query] = browse }
            return browse.start(report)
        }
    }

    package func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { engine.browseTypes(query, reporting: reporting) }

    package func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { engine.browseDomains(query, reporting: reporting) }

    package func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        engine.publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    package func finds(in domain: Domain) -> Bool { engine.finds(in: domain) }

    package func publishes(in domain: Domain) -> Bool { engine.publishes(in: domain) }

    package func limits(in domain: Domain) -> DiscoveryLimits { engine.limits(in: domain) }

    package func couldNotReach(_ instance: ServiceInstance) { engine.couldNotReach(instance) }

    package func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        engine.watchState(reporting)
    }

    package var troubles: [String] { engine.troubles }

    package func shutdown() async -> Bool { await engine.shutdown() }
}
