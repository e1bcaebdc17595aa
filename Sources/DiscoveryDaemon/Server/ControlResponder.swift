internal import DNSSD
package import Discovery
package import DiscoveryControl
internal import DiscoverySystem

/// Answers requests: one method for each kind (docs/contract.md, section 6).
package final class ControlResponder: Sendable {
    let network: LocalNetwork
    let warm: OpenQueries
    let registry: Registry
    let health: BackendHealth
    let metrics: MetricsRegistry
    let reload: @Sendable () async -> ControlError?
    let facts: DaemonFacts
    let doubts = Locked(Doubts())
    let clientCount: @Sendable () -> Int

    package init(
        network: LocalNetwork,
        warm: OpenQueries,
        registry: Registry,
        health: BackendHealth,
        metrics: MetricsRegistry,
        facts: DaemonFacts,
        clientCount: @escaping @Sendable () -> Int = { 0 },
        reload: @escaping @Sendable () async -> ControlError?
    ) {
        self.network = network
        self.warm = warm
        self.registry = registry
        self.health = health
        self.metrics = metrics
        self.facts = facts
        self.clientCount = clientCount
        self.reload = reload
    }

    /// Answers a request; never throws, because every error is an answer.
    package func respond(_ request: ControlRequest) async -> ControlAnswer {
        let answer: ControlAnswer
        do throws(ControlError) {
            answer = try await route(request)
        } catch {
            answer = .error(error)
        }
        metrics.counted(request.path.prefix(3).joined(separator: "/"), answer)
        return answer
    }

    private func route(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        switch try Resource(of: request) {
        case .ping: return .json { _ in }
        case .page(let path): return PageFile.at(path).map { .file($0) } ?? .nothing
        case .pageFacts: return .pageFacts(session: false, doctor: false, daemon: true)
        case .status: return await status(request.peer)
        case .reload: return try await reload(request)
        case .health: return healthz(request.peer)
        case .metrics: return await prometheus()
        case .targetGroups: return try await targetGroups(request.query)
        case .services: return try await services(request.query)
        case .unreachable: return try couldNotReach(request.query, request.peer)
        case .types: return try await types(request.query)
        case .domains: return try await domains(request.query)
        case .servicesWatch: return try watchServices(request.query)
        case .typesWatch: return try watchTypes(request.query)
        case .domainsWatch: return try watchDomains(request.query)
        case .backendWatch: return try watchBackend(request.query)
        case .registrations: return try await registrations(request)
        case .registration(let id): return try await registration(id, request)
        case .registrationText(let id): return try await registrationText(id, request)
        }
    }

    private func reload(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        if let reason = await registry.refusalToManage(request.peer) {
            throw ControlError(403, DiscoveryError.Code.notPermitted.description, reason)
        }
        if let error = await reload() { throw error }
        return .nothing
    }
}

/// Facts about the daemon.
package struct DaemonFacts: Sendable {
    package var version: String
    package var pid: Int32
    package var started: ContinuousClock.Instant
    package var backend: String
    /// What finds services on the link.
    package var finder: String
    package var socket: String
    package var limits: ConnectionTable.Limits
    /// What addresses are judged by.
    package var localAddresses: @Sendable () -> LocalAddresses = { .system() }
    package var routes: @Sendable () -> any RouteLookup = { SystemRoutes() }
    /// The domains that DNS servers serve.
    package var domains: @Sendable () -> [DomainState] = { [] }
    /// What the gateway does, rule by rule.
    package var exports: @Sendable () async -> [GatewayStatus] = { [] }

    package init(
        version: String, pid: Int32, backend: String, finder: String, socket: String, limits: ConnectionTable.Limits,
        started: ContinuousClock.Instant = .now
    ) {
        self.version = version
        self.pid = pid
        self.started = started
        self.backend = backend
        self.finder = finder
        self.socket = socket
        self.limits = limits
    }
}
