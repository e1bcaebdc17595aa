internal import DNSSD
internal import Discovery

/// Turns what the daemon tells of services into facts: a value that is told lines and answers with facts.
///
/// The daemon tells of whole services; below a `Catalog` there are sightings and resolutions on interfaces. Nothing is lost on
/// the way: decision 0006.
struct RemoteFacts: Sendable {
    private let isResolving: Bool
    private let family: IPAddress.Family
    private var backend: EngineState?
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
            return state.reason.map { down($0) } ?? up()
        case .event(.found(let service)), .event(.changed(let service)):
            return told() + became(service)
        case .event(.lost(let service)):
            let old = known.removeValue(forKey: service.instance) ?? stale.removeValue(forKey: service.instance)
            return told() + (old.map { disappeared($0, from: $0.origins) } ?? [])
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
        return down(reason)
    }

    /// What one who comes later must be told of what is known.
    var snapshot: [BrowseFact] {
        var facts: [BrowseFact] = known.values.flatMap { appeared($0, since: nil) }
        if let omission { facts.append(.degraded(omission)) }
        if isSettled { facts.append(.listed) }
        return facts
    }

    /// What the daemon does not merely remember comes from its backend, which is there then.
    private mutating func told() -> [BrowseFact] { isRemembered ? [] : up() }

    /// The backend is there.
    private mutating func up() -> [BrowseFact] {
        defer { backend = .up }
        switch backend {
        case .up: return []
        case nil: return [.backend(.up)]
        case .down:
            // The daemon tells again only what has changed; it was never lost to this side.
            return [.backend(.up)] + known.values.flatMap { appeared($0, since: nil) } + (isSettled ? [.listed] : [])
        }
    }

    private mutating func down(_ reason: String) -> [BrowseFact] {
        if case .down = backend { return [] }
        backend = .down(reason)
        return [.backend(.down(reason))]
    }

    private mutating func settled() -> [BrowseFact] {
        // A daemon that has just started may not have found again what is there, nor published again what is its own.
        let gone = stale.values.flatMap { service in
            service.origins.map { BrowseFact.hidden(sighting(of: service, at: $0)) }
        }
        stale = [:]
        isRemembered = false
        isSettled = true
        return gone + [.listed]
    }

    private mutating func became(_ service: DiscoveredService) -> [BrowseFact] {
        let old = known[service.instance] ?? stale.removeValue(forKey: service.instance)
        known[service.instance] = service
        let gone = old.map { old in old.origins.filter { !service.origins.contains($0) } } ?? []
        return appeared(service, since: old) + disappeared(service, from: gone)
    }

    /// Every sighting comes first, so that the service is told once, when all of it is known.
    private func appeared(_ service: DiscoveredService, since old: DiscoveredService?) -> [BrowseFact] {
        var facts: [BrowseFact] = service.origins.map { .appeared(sighting(of: service, at: $0)) }
        guard isResolving else { return facts }
        for origin in service.origins {
            if let host = service.host {
                facts.append(.resolved(resolution(of: service, host, at: origin)))
            }
            if service.state == .unreachable || service.state == .found {
                facts.append(.resolutionFailed(service.instance, origin))
            }
        }
        return facts
    }

    private func resolution(of service: DiscoveredService, _ host: HostName, at origin: Origin) -> Resolution {
        let endpoints = service.endpoints.filter { $0.interface == origin.interface }
        let targets = Dictionary(grouping: endpoints, by: \.target).compactMap { target, endpoints in
            target.map { target in
                Resolution.Target(
                    host: target.host, port: endpoints.first?.port, priority: target.priority, weight: target.weight,
                    addresses: endpoints.map(\.address))
            }
        }.sorted { ($0.priority, $0.host.name) < ($1.priority, $1.host.name) }
        let only = Resolution.Target(
            host: host, port: service.port, addresses: endpoints.filter { $0.target == nil }.map(\.address))
        return Resolution(
            instance: service.instance, origin: origin, target: targets.first ?? only,
            alternatives: Array(targets.dropFirst()), txt: service.txt)
    }

    private func disappeared(_ service: DiscoveredService, from origins: [Origin]) -> [BrowseFact] {
        origins.map { .disappeared(sighting(of: service, at: $0)) }
    }

    private func sighting(of service: DiscoveredService, at origin: Origin) -> Sighting {
        Sighting(instance: service.instance, origin: origin, family: family, isOwn: service.isOwn)
    }
}

extension DiscoveredService {
    /// One that was seen on no interface is a DNS server's.
    fileprivate var origins: [Origin] { interfaces.isEmpty ? [.unicast] : interfaces.map { .link($0) } }
}
