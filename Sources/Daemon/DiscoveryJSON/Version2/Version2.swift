internal import DNSSD

/// JSON, version 2, made of what version 1 says: docs/decisions/0087-json-version-2.md has the table, docs/json-v2.schema.json the shapes.
/// Whatever is not known is missing: null is only in TXT records, for a key without a value.
package enum Version2 {
    static func envelope(_ event: String, _ members: [JSONValue.Member]) -> JSONValue {
        .object([.init("v", .integer(2)), .init("event", .string(event))] + members)
    }

    /// A line.
    /// - Parameter old: the line of version 1.
    package static func line(_ old: JSONValue, about subject: JSONVersion.Subject = .event) -> JSONValue {
        switch subject {
        case .event, .hosts: event(old)
        case .service: envelope("found", [.init("service", service(old))])
        case .publication: envelope("found", publication(old))
        case .ended: envelope("publication", publication(old, isOver: true))
        case .check: envelope("check", [.init("check", check(old))])
        case .status: envelope("status", [.init("status", status(old))])
        }
    }

    private static func event(_ old: JSONValue) -> JSONValue {
        let name = old["event"]?.string ?? ""
        switch name {
        case "added", "updated", "removed": return envelope(name, listed(old))
        case "settled": return envelope("complete", Members(of: old, "cursor").list)
        case "degraded": return envelope("incomplete", Members(of: old, "reason", "cursor").list)
        case "backend":
            let isThere = ["available", "recovered"].contains(old["state"]?.string)
            return envelope(isThere ? "available" : "unavailable", Members(of: old, "reason", "cursor").list)
        case "overflow":
            let error = JSONError(
                code: "overflow", message: "this reader fell too far behind; ask again, without a cursor")
            return envelope("error", [.init("error", error.value)])
        case "published": return envelope("publication", publication(old))
        case "record": return envelope("found", [.init("record", record(old))])
        case "identity":
            return envelope("found", [.init("key", Members(of: old, "fingerprint", "words", "label", "path").object)])
        case "known": return envelope("found", [.init("known", Members(of: old, "name", "fingerprint").object)])
        case "pairing":
            let pair = Members(of: old, "state", "name", "code", "label", "fingerprint", "names")
            return envelope("pair", [.init("pair", pair.object)])
        case "connected", "failed": return envelope(name, connection(old))
        case "forwarding": return envelope("forwarding", forwarding(old))
        case "explanation": return envelope("diagnosis", diagnosis(old))
        case "page": return envelope("page", [.init("page", Members(of: old, "url").object)])
        default: return envelope(name, Members(of: old).list)
        }
    }

    /// What a list has: a service, a service that is published, a type or a domain.
    private static func listed(_ old: JSONValue) -> [JSONValue.Member] {
        var members = Members(of: old)
        if let service = old["service"] {
            members.add("service", self.service(service))
            // For the page.
            members.keep("permitted", "arrived")
            members.keep("seconds", as: "knownSeconds")
        } else if old["origin"] != nil {
            return publication(old)
        } else if old["type"] != nil {
            members.add("type", type(old))
        } else {
            members.add("domain", domain(old))
        }
        members.keep("cursor")
        return members.list
    }

    static func type(_ old: JSONValue) -> JSONValue {
        var type = Members(of: old)
        type.keep("type", as: "name")
        type.add("title", old["title"]?.string ?? old["type"]?.string.flatMap { KnownType.of($0)?.title })
        type.keep("domain", "interfaces")
        return type.object
    }

    /// - Parameter old: an object with `domain`, or the domain alone.
    static func domain(_ old: JSONValue) -> JSONValue {
        if old.string != nil { return .object([.init("name", old)]) }
        var domain = Members(of: old)
        domain.keep("domain", as: "name")
        domain.keep("purpose")
        return domain.object
    }

    static func check(_ old: JSONValue) -> JSONValue {
        var check = Members(of: old)
        check.keep("check", as: "name")
        check.keep("verdict", "text", "advice")
        return check.object
    }

    private static func forwarding(_ old: JSONValue) -> [JSONValue.Member] {
        var members = Members(of: old)
        members.add("service", Members(of: old, "name", "type", "domain").object)
        var endpoint = Members(of: address(old["address"]?.string ?? ""))
        endpoint.keep("address", "family")
        endpoint.add("port", old["port"])
        members.add("endpoint", endpoint.object)
        return members.list
    }
}
