public import DNSSD

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
