#if Commands
internal import DNSSD
internal import DaemonSupport
internal import Discovery
internal import DiscoveryDaemon
internal import HostEngine
internal import UnicastEngine

/// The configured domains of DNS servers, and what finds and publishes there.
struct DaemonDomains: Sendable {
    private let settings: [DomainSettings]
    /// Nil where no domain is configured.
    private let unicast: UnicastEngine?

    /// Reads the keys.
    /// - Throws: `Failure` with status 78 for a key that cannot be used.
    init(_ configuration: DaemonConfiguration) throws {
        settings = try Self.settings(configuration)
        unicast = settings.isEmpty ? nil : UnicastEngine(domains: settings)
    }

    /// - Throws: `Failure` with status 78 for a key that cannot be used.
    static func settings(_ configuration: DaemonConfiguration) throws -> [DomainSettings] {
        try configuration.domains.map { definition in
            do throws(DiscoveryError) {
                return try definition.withKey()
            } catch {
                throw Failure(status: 78, message: "\(definition.place): \(error.message)")
            }
        }
    }

    /// The link's engine, with that of the domains before it.
    func engine(with host: HostEngine) -> any DiscoveryEngine {
        guard let unicast else { return host.engine }
        return EngineRouter(finders: [unicast, host.engine], publishers: [unicast, host.engine])
    }

    /// How each stands.
    var states: [DomainState] {
        let zones = Dictionary((unicast?.zones ?? []).map { ($0.domain, $0) }) { first, _ in first }
        return settings.map { setting in
            var state = DomainState(
                setting.domain, publishes: setting.key != nil, server: setting.server?.description,
                lease: setting.lease)
            if let zone = zones[setting.domain] { state.take(zone) }
            return state
        }
    }
}

extension DomainState {
    fileprivate mutating func take(_ zone: ZoneStatus) {
        server = zone.server ?? server
        key = zone.key
        (lease, leaseLeft) = (zone.lease, zone.leaseLeft)
        (updates, failures, reaped) = (zone.updates, zone.failures, zone.reaped)
        services = zone.registrations.count { $0.fact.state == .established }
        switch zone.state {
        case .starting: state = .starting
        case .held: state = .held
        case .waiting(let why): (state, reason) = (.waiting, why)
        case .refused(let error): (state, reason) = (.refused, error.message)
        }
    }
}
#endif
