import AvahiEngine
import DNSSD
import Discovery

/// avahi-daemon for domains beyond the link. It is no part of what finds on the link, and its absence is no loss there.
final class OtherDomains: ServiceFinder {
    private let avahi: AvahiEngine

    /// - Parameter avahi: not ended by `shutdown`.
    init(_ avahi: AvahiEngine) { self.avahi = avahi }

    func finds(in domain: Domain) -> Bool { avahi.finds(in: domain) }

    func limits(in domain: Domain) -> DiscoveryLimits { avahi.limits(in: domain) }

    func couldNotReach(_ instance: ServiceInstance) { avahi.couldNotReach(instance) }

    var troubles: [String] { avahi.troubles }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        SingleReport { reporting(.up) }
    }

    func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation { avahi.browse(query, reporting: reporting) }

    func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { avahi.browseTypes(query, reporting: reporting) }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { avahi.browseDomains(query, reporting: reporting) }

    func shutdown() async -> Bool { true }
}
