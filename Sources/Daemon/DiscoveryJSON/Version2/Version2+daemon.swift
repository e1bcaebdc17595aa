/// What the daemon says of itself, and its answers that are one object.
extension Version2 {
    /// What an answer is about.
    package enum Answer: Hashable, Sendable {
        case types, domains, publications, publication, status, health, checks, reload, ping
    }

    /// An answer of the daemon in version 2; an error with its HTTP status.
    package static func answer(_ old: JSONValue, about subject: Answer, status code: Int) -> JSONValue {
        var members = Members(of: old)
        members.add("v", .integer(2))
        if let error = old["error"] {
            members.add("error", Self.error(error, status: code))
            return members.object
        }
        switch subject {
        case .types: members.each("types", type)
        case .domains: members.each("domains", domain)
        case .publications: members.each("registrations", as: "publications") { .object(publication($0)) }
        case .publication: return .object(members.list + publication(old))
        case .status: members.add("status", status(old))
        case .health: members.add("health", health(old))
        case .checks: members.each("findings", as: "checks", check)
        case .reload: members.keep("needsRestart")
        case .ping: break
        }
        return members.object
    }

    private static func error(_ old: JSONValue, status: Int) -> JSONValue {
        var error = Members(of: old, "code")
        error.add("status", .integer(status))
        error.keep("message")
        error.keep("errors", as: "messages")
        return error.object
    }

    /// How the daemon is.
    static func status(_ old: JSONValue) -> JSONValue {
        var status = Members(of: old, "version", "pid", "uptimeSeconds", "socket")
        status.add("ok", .bool(!(old["degraded"]?.bool ?? true)))
        status.keep("reasons")
        status.keep("finder", as: "find", role)
        status.keep("publisher", as: "publish", role)
        status.keep("may") { may in
            var new = Members(of: may)
            new.add("publish", permission(may["publish"]))
            new.add("detach", permission(may["handOver"]))
            new.keep("rules")
            return new.object
        }
        status.each("warm", as: "queries") { query in
            var new = Members(of: query, "type", "name", "domain", "family", "interfaces", "services")
            new.keep("settled", as: "complete")
            new.keep("resolve", as: "resolves")
            new.keep("configured", "readers")
            return new.object
        }
        status.keep("domains", "key", "exports", "labels", "dns", "nss")
        status.each("registrations", as: "publications") { .object(publication($0)) }
        status.keep("clients", "limits")
        return status.object
    }

    private static func health(_ old: JSONValue) -> JSONValue {
        var health = Members(of: old)
        health.add("ok", .bool(old["status"]?.string == "ok"))
        health.keep("reasons")
        health.keep("finder", as: "find", role)
        health.keep("publisher", as: "publish", role)
        return health.object
    }

    /// What finds, or publishes, and whether it is there.
    private static func role(_ old: JSONValue) -> JSONValue {
        let programs = ["wire": "discoverd", "avahi": "avahi-daemon", "system": "avahi-daemon"]
        var role = Members(of: old)
        role.add("by", (old["by"] ?? old["kind"])?.string.flatMap { programs[$0] })
        switch old["state"]?.string {
        case "available", "recovered": role.add("available", .bool(true))
        case "unavailable", "lost": role.add("available", .bool(false))
        default: break
        }
        role.keep("host", "wantedHost", "reason")
        return role.object
    }

    /// - Parameter refusal: null, or why not.
    private static func permission(_ refusal: JSONValue?) -> JSONValue {
        var permission = Members(of: .null)
        permission.add("allowed", .bool(refusal == nil || refusal == .null))
        permission.add("reason", refusal)
        return permission.object
    }
}
