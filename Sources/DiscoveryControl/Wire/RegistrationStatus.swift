public import DNSSD
public import DiscoveryJSON

/// A registration as the daemon tells of it.
public struct RegistrationStatus: Hashable, Sendable {
    /// Where it comes from, and with that how long it lives.
    public enum Origin: String, Hashable, Sendable {
        /// Of the configuration.
        case configuration
        /// Of somebody who asked for it, until it is withdrawn.
        case detached
        /// Of a command that is connected, as long as it is.
        case attached
    }

    /// How far it has come.
    public enum State: String, Hashable, Sendable {
        /// The backend is not there.
        case waiting
        /// Other hosts are asked whether they have the name.
        case registering
        /// It is published.
        case established
        /// Its check does not pass.
        case withheld
        /// Another host has the name.
        case conflicted
        /// It cannot be published.
        case failed
        /// It is over.
        case withdrawn
        /// One that this version does not know.
        case unknown
    }

    /// What its check found.
    public enum Health: String, Hashable, Sendable {
        /// Nothing yet, or what this version does not know.
        case unknown
        /// It works.
        case passing
        /// It does not.
        case failing
    }

    /// What it is withdrawn by.
    public var id: String
    /// The name now.
    public var name: String
    /// The name that was asked for.
    public var wanted: String
    /// The type.
    public var type: String
    /// The domain.
    public var domain: String
    /// The port.
    public var port: Int
    /// How far it has come.
    public var state: State
    /// Why, unless it is established.
    public var reason: String?
    /// A name for programs of what went wrong.
    public var code: String?
    /// The backend refuses it, or its names are denied, and it is tried again.
    public var isRetrying: Bool
    /// Who owns it; nil where that is not for who asks.
    public var uid: UInt32?
    /// Where it comes from.
    public var origin: Origin
    /// Its check; of another user's only the kind, as `exec`.
    public var check: String?
    /// What its check found; nil without one.
    public var health: Health?
    /// What its owner should look at though it is published.
    public var warning: String?

    /// Creates a status.
    public init(
        id: String, name: String, wanted: String, type: String, domain: String, port: Int, state: State,
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

    /// Reads one; nil when it is none.
    public init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let name = json["name"]?.string, let wanted = json["wanted"]?.string,
            let type = json["type"]?.string, let domain = json["domain"]?.string, let port = json["port"]?.integer,
            let state = json["state"]?.string, let origin = json["origin"]?.string.flatMap({ Origin(rawValue: $0) })
        else { return nil }
        self.init(
            id: id, name: name, wanted: wanted, type: type, domain: domain, port: port,
            state: State(rawValue: state) ?? .unknown,
            reason: json["reason"]?.string, code: json["code"]?.string,
            isRetrying: json["retrying"]?.bool ?? false,
            uid: json["uid"]?.integer.flatMap { UInt32(exactly: $0) }, origin: origin,
            check: json["check"]?.string, health: json["health"]?.string.map { Health(rawValue: $0) ?? .unknown },
            warning: json["warning"]?.string
        )
    }

    /// It is over: no other state follows.
    public var isFinal: Bool {
        state == .withdrawn || (state == .conflicted || state == .failed) && !isRetrying
    }

    /// What the backend refuses, or other hosts deny: a reason to look at it.
    public var trouble: String? {
        isRetrying || state == .conflicted || state == .failed ? reason ?? state.rawValue : nil
    }

    /// What an error of the backend makes of it that does not end it.
    public mutating func refused(_ error: DiscoveryError) {
        state = error.code == .nameTaken ? .conflicted : .waiting
        (reason, code, isRetrying) = (error.message, error.code.description, true)
    }
}

extension JSONWriter {
    /// Writes the members of a registration.
    public mutating func registrationMembers(_ status: RegistrationStatus) {
        member("id", status.id)
        member("name", status.name)
        member("wanted", status.wanted)
        member("type", status.type)
        member("domain", status.domain)
        member("port", status.port)
        member("state", status.state.rawValue)
        if let reason = status.reason { member("reason", reason) }
        if let code = status.code { member("code", code) }
        if status.isRetrying {
            key("retrying")
            bool(true)
        }
        if let uid = status.uid { member("uid", Int(uid)) }
        member("origin", status.origin.rawValue)
        if let check = status.check { member("check", check) }
        if let health = status.health { member("health", health.rawValue) }
        if let warning = status.warning { member("warning", warning) }
    }
}
