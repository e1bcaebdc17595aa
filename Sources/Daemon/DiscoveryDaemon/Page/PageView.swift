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
        var texts: [String] = []
        for endpoint in service.endpoints where !texts.contains(endpoint.addressText) {
            let refusal = AddressPolicy().refusal(
                of: endpoint, in: service.instance.domain, isOwn: service.isOwn, local: local, routes: routes)
            if refusal == nil { texts.append(endpoint.addressText) }
        }
        return texts
    }

    /// How long a sighting is ago.
    func seconds(_ sighting: QueryFeed.Sighting) -> Int {
        Int(clamping: sighting.time.duration(to: now).components.seconds)
    }
}

extension JSONWriter {
    /// Writes an event as a line of `watch`, with what `view=page` adds.
    mutating func pageLine(_ event: ServiceEvent, detail: ServiceDetail, cursor: String, _ view: PageView) {
        switch event {
        case .found(let service): pageLine("added", service, detail, cursor, view)
        case .changed(let service): pageLine("updated", service, detail, cursor, view)
        case .lost, .settled, .backend, .degraded: watchLine(event, detail: detail, cursor: cursor)
        }
    }

    private mutating func pageLine(
        _ event: String, _ service: DiscoveredService, _ detail: ServiceDetail, _ cursor: String, _ view: PageView
    ) {
        line(event) { object in
            object.key("service")
            object.service(service, detail: detail)
            object.member("permitted", view.permitted(service))
            if let sighting = view.found[service.instance] {
                object.member("seconds", view.seconds(sighting))
                object.member("arrived", sighting.isArrival)
            }
            object.member("cursor", cursor)
        }
    }
}
