internal import DNSSD
internal import Discovery

/// Turns what the daemon tells of services into facts: a value that is told lines and answers with facts.
///
/// The daemon tells of whole services; below a `Catalog` there are sightings and resolutions on interfaces. Nothing is lost on
/// the way: decision 0006.
struct RemoteFacts: Sendable {
    private enum Link { case never, up, lost }

    private let isResolving: Bool
    private let family: IPAddress.Family
    private var link = Link.never
    /// It was told that there is no backend.
    private var isWaiting = false
    /// The daemon itself waits for its backend: what it tells meanwhile is what it knew before.
    private var isRemembered = false
    private var known: [ServiceInstance: DiscoveredService] = [:]
    /// What was known before the connection broke and was not told again yet.
    private var stale: [ServiceInstance: DiscoveredService] = [:]
    private(set) var isSettled = false
    /// What was left out, told last.
    private var omission: String?

    init(isResolving: Bool, family: IPAddress.Family?) {
        self.isResolving = isResolving
        // Over which packets a service was seen does not matter above; which addresses it has is in the resolution.
        self.family = family ?? .ipv6
    }

    mutating func received(_ line: WatchLine) -> [BrowseFact] {
        switch line {
        case .event(.backend(let state)):
            isRemembered = state.reason != nil
            return backend(state)
        case .event(.found(let service)), .event(.changed(let service)):
            return told() + became(service)
        case .event(.lost(let service)):
            let old = known.removeValue(forKey: service.instance) ?? stale.removeValue(forKey: service.instance)
            return told() + (old.map { disappeared($0, from: $0.interfaces) } ?? [])
        case .event(.settled): return up() + settled()
        case .event(.degraded(let reason)):
            omission = reason
            return told() + [.degraded(reason)]
        case .overflow, .unknown: return []
        }
    }

    mutating func disconnected(_ reason: String) -> [BrowseFact] {
        isRemembered = false
        // A service may have been told twice since: what is known now wins.
        stale.merge(known) { $1 }
        known = [:]
        isSettled = false
        omission = nil
        switch link {
        case .never:
            isWaiting = true
            return [.backend(.unavailable(reason))]
        case .up:
            link = .lost
            return [.backend(.lost(reason))]
        case .lost: return []
        }
    }

    /// What one who comes later must be told of what is known.
    var snapshot: [BrowseFact] {
        var facts: [BrowseFact] = known.values.flatMap { appeared($0, since: nil) }
        if let omission { facts.append(.degraded(omission)) }
        if isSettled { facts.append(.listed) }
        return facts
    }

    private mutating func backend(_ state: BackendState) -> [BrowseFact] {
        switch state {
        case .available, .recovered: return up()
        case .unavailable(let reason):
            guard link != .lost else { return [] }
            isWaiting = true
            return [.backend(.unavailable(reason))]
        case .lost(let reason):
            guard link == .up else {
                isWaiting = link == .never
                return link == .never ? [.backend(.unavailable(reason))] : []
            }
            link = .lost
            return [.backend(.lost(reason))]
        }
    }

    /// What the daemon does not merely remember comes from its backend, which is there then.
    private mutating func told() -> [BrowseFact] { isRemembered ? [] : up() }

    /// The backend is there.
    private mutating func up() -> [BrowseFact] {
        defer {
            link = .up
            isWaiting = false
        }
        switch link {
        case .up: return []
        case .never: return isWaiting ? [.backend(.available)] : []
        case .lost:
            // The daemon tells again only what has changed; it was never lost to this side.
            return [.backend(.recovered)] + known.values.flatMap { appeared($0, since: nil) }
                + (isSettled ? [.listed] : [])
        }
    }

    private mutating func settled() -> [BrowseFact] {
        // A daemon that has just started may not have found again what is there, nor published again what is its own.
        let gone = stale.values.flatMap { service in
            service.interfaces.map { BrowseFact.hidden(sighting(of: service, on: $0)) }
        }
        stale = [:]
        isRemembered = false
        isSettled = true
        return gone + [.listed]
    }

    private mutating func became(_ service: DiscoveredService) -> [BrowseFact] {
        let old = known[service.instance] ?? stale.removeValue(forKey: service.instance)
        known[service.instance] = service
        let gone = old.map { old in old.interfaces.filter { !service.interfaces.contains($0) } } ?? []
        return appeared(service, since: old) + disappeared(service, from: gone)
    }

    /// Every sighting comes first, so that the service is told once, when all of it is known.
    private func appeared(_ service: DiscoveredService, since old: DiscoveredService?) -> [BrowseFact] {
        var facts: [BrowseFact] = service.interfaces.map {
            .appeared(sighting(of: service, on: $0))
        }
        guard isResolving else { return facts }
        for interface in service.interfaces {
            if let host = service.host {
                facts.append(.resolved(resolution(of: service, host, on: interface)))
            }
            if service.state == .unreachable || service.state == .found {
                facts.append(.resolutionFailed(service.instance, interface))
            }
        }
        return facts
    }

    private func resolution(
        of service: DiscoveredService,
        _ host: HostName,
        on interface: NetworkInterface
    ) -> Resolution {
        Resolution(
            instance: service.instance,
            interface: interface,
            host: host,
            port: service.port,
            txt: service.txt,
            addresses: service.endpoints.filter { $0.interface == interface }.map(\.address),
            isComplete: true
        )
    }

    private func disappeared(_ service: DiscoveredService, from interfaces: [NetworkInterface]) -> [BrowseFact] {
        interfaces.map { .disappeared(sighting(of: service, on: $0)) }
    }

    private func sighting(of service: DiscoveredService, on interface: NetworkInterface) -> Sighting {
        Sighting(instance: service.instance, interface: interface, family: family)
    }
}
