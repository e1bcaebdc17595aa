public import DNSSD
public import Discovery
internal import DiscoveryControl
internal import DiscoverySystem

/// A service that the daemon publishes, or is to publish.
public struct DaemonRegistration: Identifiable, Hashable, Sendable, CustomStringConvertible {
    /// Where it comes from, which decides how long it lives.
    public enum Origin: String, Hashable, Sendable {
        /// The daemon's configuration.
        case configuration
        /// A request: it stays until it is withdrawn.
        case detached
        /// A connected program: it ends with the connection.
        case attached
        /// A label of a container or a unit, while that runs.
        case labels
    }

    /// How far it has come.
    public typealias State = PublicationState

    /// What the daemon calls it, for `update` and `withdraw`.
    public let id: String
    /// Its identity, under the name that it has now.
    public let instance: ServiceInstance
    /// The name that was asked for.
    public let wanted: ServiceName
    /// The port; nil where nothing is offered under the name.
    public let port: Port?
    /// The machine that it is on; nil for this one.
    public let host: HostName?
    /// How far it has come.
    public let state: State
    /// Why it is not published, or a problem for its owner to look at; safe for a terminal.
    public let reason: String?
    /// Whether the daemon tries again what was refused.
    public let isRetrying: Bool
    /// Where it comes from.
    public let origin: Origin
    /// The user who handed it over; nil where this user may not know.
    public let uid: UInt32?
    /// Its check as text; of another user's only the kind, such as `exec`.
    public let check: String?
    /// Whether its check passes; nil without one, or before its first result.
    public let isHealthy: Bool?

    /// Nil where a part is none that a DNS packet could carry.
    init?(_ status: RegistrationStatus) {
        guard let type = ServiceType(observed: status.type), let domain = Domain(observed: status.domain) else {
            return nil
        }
        id = status.id
        instance = ServiceInstance(name: ServiceName(observed: status.name), type: type, domain: domain)
        wanted = ServiceName(observed: status.wanted)
        port = UInt16(exactly: status.port).flatMap { Port(rawValue: $0) }
        host = status.host.flatMap { HostName(observed: $0) }
        state = status.state
        reason = (status.reason ?? status.warning)?.escapedOnce
        isRetrying = status.isRetrying
        origin =
            switch status.origin {
            case .configuration: .configuration
            case .detached: .detached
            case .attached: .attached
            case .labels: .labels
            }
        uid = status.uid
        check = status.check
        isHealthy =
            switch status.health {
            case .passing: true
            case .failing: false
            case .unknown, nil: nil
            }
    }

    /// The full name and the state: `tony._witap._tcp.local: established`; safe for a terminal.
    public var description: String { "\(instance): \(state.rawValue)" + (reason.map { " (\($0))" } ?? "") }
}

/// What must pass for a registration to be offered, looked at by the daemon again and again (discoverd.yaml(5), `check:`).
public struct DaemonCheck: Hashable, Sendable {
    /// The check as the daemon reads it: `tcp`, `http:PATH`, `exec:COMMAND`, `unit:NAME.service`, `pid:NUMBER`.
    public var text: String
    /// How long between two looks; nil for the daemon's own. The daemon refuses what is out of its range.
    public var interval: Duration?
    /// How long one look may take; nil for the daemon's own.
    public var timeout: Duration?
    /// How many looks in a row must pass for the service to count as healthy; nil for the daemon's own.
    public var rise: Int?
    /// How many must fail for it to count as unhealthy; nil for the daemon's own.
    public var fall: Int?

    /// Creates a check of any kind. `exec:`, `unit:` and `pid:` need root or the daemon's user.
    public init(_ text: String) { self.text = text }

    /// The service's port on this machine accepts connections.
    public static let tcp = DaemonCheck("tcp")

    /// A GET request for a path to the service's port on this machine answers with a status of 200 to 399.
    public static func http(_ path: String) -> DaemonCheck { DaemonCheck("http:\(path)") }
}

extension DaemonCheck {
    var request: RegistrationRequest.Check {
        var check = RegistrationRequest.Check(text)
        check.intervalMilliseconds = interval?.wholeMilliseconds
        check.timeoutMilliseconds = timeout?.wholeMilliseconds
        (check.rise, check.fall) = (rise, fall)
        return check
    }
}
