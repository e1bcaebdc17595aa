internal import DNSSD
public import Discovery
public import DiscoveryJSON

/// The daemon's report of a registration.
public struct RegistrationStatus: Hashable, Sendable {
    /// Where it comes from, which decides how long it lives.
    public enum Origin: String, Hashable, Sendable {
        /// The configuration.
        case configuration
        /// A request; it stays until it is withdrawn.
        case detached
        /// A connected client; it ends with the connection.
        case attached
        /// A label of a container or a unit, while that runs.
        case labels

        /// Whether somebody has asked for it over the control socket.
        package var isRequested: Bool { self == .detached || self == .attached }
    }

    /// How far it has come.
    public typealias State = PublicationState

    /// The result of its check.
    public enum Health: String, Hashable, Sendable {
        /// No result yet, or one that this version does not know.
        case unknown
        /// The check passes.
        case passing
        /// The check fails.
        case failing
    }

    /// Its identifier, for withdrawing it.
    public var id: String
    /// The current name.
    public var name: String
    /// The requested name.
    public var wanted: String
    /// The type; empty for an address record or an alias.
    public var type: String
    /// The domain.
    public var domain: String
    /// The port; 0 for an address record or an alias.
    public var port: Int
    /// The machine that it is on; nil for this one.
    public var host: String?
    /// The addresses of an address record; empty for a service.
    public var addresses: [String]
    /// Whether `host` is a further name of this machine.
    public var isAlias: Bool
    /// How far it has come.
    public var state: State
    /// The reason, unless it is established.
    public var reason: String?
    /// A stable name of the error, for programs.
    public var code: String?
    /// The backend refuses it, or other hosts deny its names, and the daemon retries.
    public var isRetrying: Bool
    /// The owner; nil if the client may not know it.
    public var uid: UInt32?
    /// Where it comes from.
    public var origin: Origin
    /// Its check; of another user's check only the kind, such as `exec`.
    public var check: String?
    /// The result of its check; nil without one.
    public var health: Health?
    /// A problem for its owner to look at, although it is published.
    public var warning: String?

    /// Creates a status.
    public init(
        id: String, name: String, wanted: String, type: String, domain: String, port: Int, host: String? = nil,
        addresses: [String] = [], isAlias: Bool = false, state: State,
        reason: String? = nil, code: String? = nil, isRetrying: Bool = false, uid: UInt32?, origin: Origin,
        check: String? = nil,
        health: Health? = nil, warning: String? = nil
    ) {
        self.id = id
        self.name = name
        self.wanted = wanted
        self.type = type
        self.domain = domain
        self.port = port
        self.host = host
        self.addresses = addresses
        self.isAlias = isAlias
        self.state = state
        self.reason = reason
        self.code = code
        self.isRetrying = isRetrying
        self.uid = uid
        self.origin = origin
        self.check = check
        self.health = health
        self.warning = warning
    }

    /// Reads a status; nil if it is malformed.
    public init?(_ json: JSONValue) {
        let addresses = json["addresses"]?.strings ?? []
        let isAlias = json["alias"]?.bool ?? false
        let isOfHost = isAlias || !addresses.isEmpty
        guard let id = json["id"]?.string, let name = json["name"]?.string, let wanted = json["wanted"]?.string,
            let type = json["type"]?.string ?? (isOfHost ? "" : nil), let domain = json["domain"]?.string,
            let port = json["port"]?.integer ?? (isOfHost ? 0 : nil),
            let state = json["state"]?.string, let origin = json["origin"]?.string.flatMap({ Origin(rawValue: $0) })
        else { return nil }
        self.init(
            id: id, name: name, wanted: wanted, type: type, domain: domain, port: port,
            host: json["host"]?.string, addresses: addresses, isAlias: isAlias,
            state: State(rawValue: state) ?? .unknown,
            reason: json["reason"]?.string, code: json["code"]?.string,
            isRetrying: json["retrying"]?.bool ?? false,
            uid: json["uid"]?.integer.flatMap { UInt32(exactly: $0) }, origin: origin,
            check: json["check"]?.string, health: json["health"]?.string.map { Health(rawValue: $0) ?? .unknown },
            warning: json["warning"]?.string
        )
    }

    /// Whether it is addresses of a host, without a service: another one's, or this machine's under an alias.
    public var isAddressRecord: Bool { type.isEmpty }

    /// Whether it has ended; no other state follows.
    public var isFinal: Bool {
        state == .withdrawn || (state == .conflicted || state == .failed) && !isRetrying
    }

    /// Whether it is established, refused, given up, or withheld by a check that fails. Before, it is only on its way.
    package var hasOutcome: Bool {
        isFinal || isRetrying || state == .established || state == .withheld && health == .failing
    }

    /// A refusal of the backend or a denial of other hosts that someone should look at.
    public var trouble: String? {
        isRetrying || state == .conflicted || state == .failed ? reason ?? state.rawValue : nil
    }

    /// Takes in what became of its publication.
    package mutating func became(_ publication: PublicationStatus.State) {
        state = publication.named
        (reason, code) = (publication.why?.reason, publication.why?.code?.description)
        if case .refused = publication { isRetrying = true } else { isRetrying = false }
    }

    /// What became of its publication, as `became` took it in; nil for a state that this version does not know.
    package var publication: PublicationStatus.State? {
        let reason = reason?.escapedOnce ?? "no reason was given"
        let error = DiscoveryError(DiscoveryError.Code(code ?? "backend-failed"), reason)
        return switch state {
        case _ where isRetrying: .refused(error)
        case .waiting, .withheld: .waiting(reason)
        case .registering: .registering
        case .established: .established
        case .conflicted: .conflicted(error)
        case .failed: .failed(error)
        case .withdrawn: .withdrawn
        case .unknown: nil
        }
    }
}

extension JSONWriter {
    /// Writes the members of a registration.
    public mutating func registrationMembers(_ status: RegistrationStatus) {
        member("id", status.id)
        member("name", status.name)
        member("wanted", status.wanted)
        if !status.isAddressRecord { member("type", status.type) }
        member("domain", status.domain)
        if !status.isAddressRecord { member("port", status.port) }
        if let host = status.host { member("host", host) }
        if status.isAlias { member("alias", true) }
        if !status.addresses.isEmpty || status.isAlias && status.isAddressRecord {
            member("addresses", status.addresses)
        }
        member("state", status.state.rawValue)
        if let reason = status.reason { member("reason", reason) }
        if let code = status.code { member("code", code) }
        if status.isRetrying {
            member("retrying", true)
        }
        if let uid = status.uid { member("uid", Int(uid)) }
        member("origin", status.origin.rawValue)
        if let check = status.check { member("check", check) }
        if let health = status.health { member("health", health.rawValue) }
        if let warning = status.warning { member("warning", warning) }
    }
}
