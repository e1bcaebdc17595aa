#if Commands
internal import DNSSD
internal import DiscoveryDaemon
internal import Discovery
internal import HostEngine
internal import UnicastEngine

/// The configured domains of DNS servers, and what finds and publishes there.
struct DaemonDomains: Sendable {
    /// As they were at the start, without their keys' successors.
    private let settings: [DomainSettings]
    /// Nil where no domain is configured.
    private let unicast: UnicastEngine?

    /// Reads the keys.
    /// - Parameter state: where the publisher's id is kept.
    /// - Throws: `Failure` with status 78 for a key that cannot be used.
    init(_ configuration: DaemonConfiguration, _ state: StateDirectory) throws {
        settings = try Self.settings(configuration)
        unicast = settings.isEmpty ? nil : UnicastEngine(domains: settings, stateDirectory: state.path)
    }

    /// Whether the daemon ends, and its records are still being taken back.
    var isEnding: Bool { unicast?.isEnding == true }

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

    /// Signs with the keys of these settings from now on, where nothing else of a domain has changed since the start: the
    /// key of another server must not sign what the one in force is sent.
    /// - Returns: a sentence for each key that is another than before.
    func replaceKeys(of new: [DomainSettings]) -> [String] {
        let same = new.filter { one in settings.contains { $0.equalsButForKey(one) } }
        let keys = Dictionary(same.compactMap { one in one.key.map { (one.domain, $0) } }) { first, _ in first }
        return (unicast?.replaceKeys(keys) ?? []).map { domain in
            "updates of \(domain) are signed with another key now: \(keys[domain].map { "\($0)" } ?? "none")"
        }
    }

    /// The link's engine, with that of the domains before it.
    func engine(with host: HostEngine) -> any DiscoveryEngine {
        guard let unicast else { return host.engine }
        return EngineRouter(finders: [unicast, host.engine], publishers: [unicast, host.engine])
    }

    /// Gateways of the configured rules.
    func gateways(_ rules: [ExportRule], of network: LocalNetwork, _ log: DaemonLog) -> [Gateway] {
        guard let unicast else { return [] }
        return rules.map { rule in
            let prefix = settings.covering(rule.domain)?.host ?? ServiceName.ofThisMachine().text.lowercased()
            return Gateway(rule, into: ZoneExports(engine: unicast, prefix: prefix), log: log) {
                network.follow($0)
            }
        }
    }

    /// How each stands, with all that is published below it.
    var states: [DomainState] {
        let zones = unicast?.zones ?? []
        return settings.map { setting in
            var state = DomainState(
                setting.domain, publishes: setting.key != nil, server: setting.server?.description,
                lease: setting.lease)
            for zone in zones where settings.covering(zone.domain)?.domain == setting.domain { state.take(zone) }
            return state
        }
    }
}

extension DomainState {
    /// Adds one of several publishers; the worst state counts.
    fileprivate mutating func take(_ zone: ZoneStatus) {
        server = zone.server ?? server
        key = zone.key
        lease = zone.lease
        if let left = zone.leaseLeft { leaseLeft = min(left, leaseLeft ?? left) }
        updates += zone.updates
        failures += zone.failures
        reaped += zone.reaped
        services += zone.registrations.count { $0.fact.state == .established }
        let (now, why): (State, String?) =
            switch zone.state {
            case .starting: (.starting, nil)
            case .held: (.held, nil)
            case .waiting(let why): (.waiting, why)
            case .refused(let error): (.refused, error.message)
            }
        let order: [State] = [.idle, .held, .starting, .waiting, .refused]
        guard let new = order.firstIndex(of: now), let old = order.firstIndex(of: state), new >= old else { return }
        (state, reason) = (now, why ?? reason)
    }
}
#endif
