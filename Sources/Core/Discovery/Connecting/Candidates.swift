public import DNSSD

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

/// The service or services to connect to.
public enum ConnectTarget: Hashable, Sendable {
    /// A service by name; it is resolved on the network.
    case instance(ServiceInstance)
    /// A service with its addresses; the network is not asked again.
    case service(DiscoveredService)
    /// Whichever service of a type answers first.
    case any(ServiceType, in: Domain = .local)
}

/// The outcome of connecting: a result and a report, which a failure has too.
public struct Establishment<Connection: Sendable>: Sendable {
    /// The connection, or an error: `.notFound`; `.unreachable` if every attempt failed or there was no address;
    /// `.notPermitted` if the policy denied every address; `.backendUnavailable`; `.closed` after cancellation or
    /// shutdown.
    public let result: Result<Connection, DiscoveryError>
    /// Every address that was considered, and what became of it.
    public let report: EstablishmentReport

    /// Creates a value.
    public init(result: Result<Connection, DiscoveryError>, report: EstablishmentReport) {
        self.result = result
        self.report = report
    }
}

extension ConnectTarget {
    /// The query for the target; nil if its addresses are known.
    func query(_ interfaces: InterfaceFilter, _ family: IPAddress.Family?) -> ServiceQuery? {
        switch self {
        case .instance(let instance): ServiceQuery(.instance(instance), interfaces: interfaces, family: family)
        case .service: nil
        case .any(let type, let domain): ServiceQuery(.type(type, domain), interfaces: interfaces, family: family)
        }
    }

    var source: EstablishmentReport.Source {
        switch self {
        case .instance: .resolved
        case .service: .given
        case .any: .browsed
        }
    }

    /// The target's service; nil for a type.
    var instance: ServiceInstance? {
        switch self {
        case .instance(let instance): instance
        case .service(let service): service.instance
        case .any: nil
        }
    }

    /// The target for messages, such as `"tony" (_witap._tcp)`; safe for a terminal.
    var text: String {
        switch self {
        case .any(let type, _): "a service of type \(type)"
        case .instance, .service: instance.map { "\"\($0.name)\" (\($0.type))" } ?? ""
        }
    }
}

/// Orders the SRV records of a service for dialling (RFC 2782, "Priority" and "Weight").
enum TargetOrder {
    /// Sorts by priority; within one priority, at random in proportion to the weights.
    /// - Parameter seed: the same seed gives the same order.
    static func sorted(_ targets: Set<ServiceTarget>, seed: UInt64) -> [ServiceTarget] {
        var generator = SeededGenerator(seed: seed)
        let levels = Dictionary(grouping: targets, by: \.priority).sorted { $0.key < $1.key }
        return levels.flatMap { level in chosen(level.value.sorted(by: precedes), &generator) }
    }

    /// Puts weight 0 first, as the RFC asks: this leaves such records a small chance beside others.
    private static func precedes(_ one: ServiceTarget, _ other: ServiceTarget) -> Bool {
        (one.weight == 0 ? 0 : 1, one.host.text, one.weight) < (
            other.weight == 0 ? 0 : 1, other.host.text, other.weight
        )
    }

    private static func chosen(_ targets: [ServiceTarget], _ generator: inout SeededGenerator) -> [ServiceTarget] {
        var (left, result) = (targets, [ServiceTarget]())
        while !left.isEmpty {
            let sum = left.reduce(UInt64(0)) { $0 + UInt64($1.weight) }
            let mark = UInt64.random(in: 0...sum, using: &generator)
            var running: UInt64 = 0
            let index = left.firstIndex { target in
                running += UInt64(target.weight)
                return running >= mark
            }
            result.append(left.remove(at: index ?? left.startIndex))
        }
        return result
    }
}
