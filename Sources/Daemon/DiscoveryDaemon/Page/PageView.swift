internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// What `view=page` of a watch says of a service besides: which addresses may be dialled, and for how long it has been there.
struct PageView {
    let local: LocalAddresses
    let routes: any RouteLookup
    /// When each service was found.
    let found: [ServiceInstance: QueryFeed.Sighting]
    let now = ContinuousClock.now

    /// The addresses that the rules for whatever is announced on the network permit, each once.
    func permitted(_ service: DiscoveredService) -> [String] {
        let permitted = service.endpoints.filter { endpoint in
            AddressPolicy().refusal(
                of: endpoint, in: service.instance.domain, isOwn: service.isOwn, local: local, routes: routes) == nil
        }
        return permitted.map(\.addressText).uniqued()
    }

    /// How long a sighting is ago.
    func seconds(_ sighting: QueryFeed.Sighting) -> Int {
        Int(clamping: sighting.time.duration(to: now).components.seconds)
    }
}

extension JSONWriter {
    /// Writes what `view=page` adds to the line of a service.
    mutating func page(_ service: DiscoveredService, _ view: PageView) {
        member("permitted", view.permitted(service))
        guard let sighting = view.found[service.instance] else { return }
        member("seconds", view.seconds(sighting))
        member("arrived", sighting.isArrival)
    }
}
