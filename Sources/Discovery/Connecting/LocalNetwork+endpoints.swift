public import DNSSD
import DiscoveryPOSIX

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
