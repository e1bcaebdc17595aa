internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

/// Turns the daemon's reports of services into facts. A value: receives lines, returns facts.
///
/// The daemon reports whole services, whereas a `Catalog` takes sightings and resolutions on interfaces. Nothing is
/// lost in the conversion (decision 0006).
struct RemoteFacts: Sendable {
    private let isResolving: Bool
    private let family: IPAddress.Family
    private var backend: EngineState?
    /// The daemon is waiting for its backend: its reports are what it knew before.
    private var isRemembered = false
    private var known: [ServiceInstance: DiscoveredService] = [:]
    /// Services known before the connection broke and not reported since.
    private var stale: [ServiceInstance: DiscoveredService] = [:]
    private(set) var isSettled = false
    /// The last reported omission.
    private var omission: String?

    init(isResolving: Bool, family: IPAddress.Family?) {
        self.isResolving = isResolving
        // The catalog does not care which family carried a sighting; the addresses are in the resolution.
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
        // A service may have been reported twice since: the current one wins.
        stale.merge(known) { $1 }
        known = [:]
        isSettled = false
        omission = nil
        return down(reason)
    }

    /// What a late joiner must receive.
    var snapshot: [BrowseFact] {
        var facts: [BrowseFact] = known.values.flatMap { appeared($0, since: nil) }
        if let omission { facts.append(.degraded(omission)) }
        if isSettled { facts.append(.listed) }
        return facts
    }

    /// Services that the daemon does not merely remember come from its backend, so the backend is up.
    private mutating func told() -> [BrowseFact] { isRemembered ? [] : up() }

    /// The backend is up.
    private mutating func up() -> [BrowseFact] {
        defer { backend = .up }
        switch backend {
        case .up: return []
        case nil: return [.backend(.up)]
        case .down, .idle:
            // The daemon reports only changes; on this side nothing was lost.
            return [.backend(.up)] + known.values.flatMap { appeared($0, since: nil) } + (isSettled ? [.listed] : [])
        }
    }

    private mutating func down(_ reason: String) -> [BrowseFact] {
        if case .down = backend { return [] }
        backend = .down(reason)
        return [.backend(.down(reason))]
    }

    private mutating func settled() -> [BrowseFact] {
        // A daemon that has just started may not have found everything again, nor published its own services again.
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

    /// All sightings come first, so that the service is reported once, complete.
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
        }.sorted { ($0.priority, $0.host.text) < ($1.priority, $1.host.text) }
        let only = Resolution.Target(
            host: host, port: service.port, addresses: endpoints.filter { $0.target == nil }.map(\.address))
        return Resolution(
            instance: service.instance, origin: origin, target: targets.first ?? only,
            alternatives: Array(targets.dropFirst()), txt: service.txt, isAuthenticated: service.isAuthenticated,
            withheld: service.withheld)
    }

    private func disappeared(_ service: DiscoveredService, from origins: [Origin]) -> [BrowseFact] {
        origins.map { .disappeared(sighting(of: service, at: $0)) }
    }

    private func sighting(of service: DiscoveredService, at origin: Origin) -> Sighting {
        Sighting(instance: service.instance, origin: origin, family: family, isOwn: service.isOwn)
    }
}

extension DiscoveredService {
    /// A service seen on no interface comes from a DNS server.
    fileprivate var origins: [Origin] { interfaces.isEmpty ? [.unicast] : interfaces.map { .link($0) } }
}
