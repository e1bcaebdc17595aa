import DNSSD

/// One endpoint of one service: what a race starts.
struct Candidate: Hashable, Sendable {
    let instance: ServiceInstance
    let endpoint: Endpoint
    /// Whether this machine publishes the service; it does not count for equality.
    let isOwn: Bool

    static func == (one: Candidate, other: Candidate) -> Bool {
        one.instance == other.instance && one.endpoint == other.endpoint
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(instance)
        hasher.combine(endpoint)
    }
}

/// The services known while connecting; decides which of their endpoints to dial, and in which order.
struct Candidates: Sendable {
    /// The most services of a type that are considered. By default only 8 attempts are made.
    static let serviceLimit = 64

    private(set) var services: [DiscoveredService] = []
    /// The service lost last.
    private(set) var lost: DiscoveredService?

    mutating func apply(_ change: Change<DiscoveredService>) {
        switch change {
        case .found(let service), .changed(let service):
            if let index = services.firstIndex(where: { $0.instance == service.instance }) {
                services[index] = service
            } else if services.count < Self.serviceLimit {
                services.append(service)
            }
        case .lost(let service):
            services.removeAll { $0.instance == service.instance }
            lost = service
        case .settled, .backend, .degraded: break
        }
    }

    func service(_ instance: ServiceInstance) -> DiscoveredService? { services.first { $0.instance == instance } }

    /// Returns the candidates that may be dialled, best first and taking one from each service in turn, and those that
    /// may not, each with the reason.
    func judged(
        by policy: AddressPolicy,
        _ order: EndpointOrder,
        _ routes: some RouteLookup,
        family: IPAddress.Family?,
        now: Duration
    ) -> (permitted: [Candidate], denied: [(Candidate, AddressPolicy.Refusal)]) {
        var denied: [(Candidate, AddressPolicy.Refusal)] = []
        var lists: [[Candidate]] = []
        // Services that could not be reached recently come last.
        let likely = services.filter { $0.state != .unreachable } + services.filter { $0.state == .unreachable }
        for service in likely {
            let endpoints = service.endpoints.filter { family == nil || $0.address.family == family }
            var permitted: [Candidate] = []
            for endpoint in order.sorted(endpoints, now: now) {
                let candidate = Candidate(instance: service.instance, endpoint: endpoint, isOwn: service.isOwn)
                if let refusal = candidate.refusal(by: policy, order.local, routes) {
                    denied.append((candidate, refusal))
                } else {
                    permitted.append(candidate)
                }
            }
            if !permitted.isEmpty { lists.append(permitted) }
        }
        return (Self.inTurn(lists), denied)
    }

    private static func inTurn(_ lists: [[Candidate]]) -> [Candidate] {
        (0..<(lists.map(\.count).max() ?? 0)).flatMap { round in
            lists.compactMap { round < $0.count ? $0[round] : nil }
        }
    }
}

extension Candidate {
    func refusal(
        by policy: AddressPolicy,
        _ local: LocalAddresses,
        _ routes: some RouteLookup
    ) -> AddressPolicy.Refusal? {
        policy.refusal(of: endpoint, in: instance.domain, isOwn: isOwn, local: local, routes: routes)
    }
}
