public import DNSSD

/// What to connect to.
public enum ConnectTarget: Hashable, Sendable {
    /// A service by name: the network is asked for it.
    case instance(ServiceInstance)
    /// A service with its addresses: the network is not asked again.
    case service(DiscoveredService)
    /// Any service of a type that answers.
    case any(ServiceType, in: Domain = .local)
}

/// How connecting ended; a failure has its report, too.
public struct Establishment<Connection: Sendable>: Sendable {
    /// The connection, or why there is none: `.notFound`; `.unreachable` when no address could be connected to;
    /// `.notPermitted` when every address is denied; `.backendUnavailable`; `.closed` when cancelled or shut down.
    public let result: Result<Connection, DiscoveryError>
    /// What was tried.
    public let report: EstablishmentReport

    /// Creates a value.
    public init(result: Result<Connection, DiscoveryError>, report: EstablishmentReport) {
        self.result = result
        self.report = report
    }
}

extension ConnectTarget {
    /// What to ask the network; nil when everything is known.
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

    /// The one service that is meant; nil for a type.
    var instance: ServiceInstance? {
        switch self {
        case .instance(let instance): instance
        case .service(let service): service.instance
        case .any: nil
        }
    }

    /// `"tony" (_witap._tcp)`; safe for a terminal.
    var text: String {
        switch self {
        case .any(let type, _): "a service of type \(type)"
        case .instance, .service: instance.map { "\"\($0.name)\" (\($0.type))" } ?? ""
        }
    }
}
