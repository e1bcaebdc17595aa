internal import DNSSD

extension Version2 {
    /// A service, wherever it is.
    package static func service(_ old: JSONValue) -> JSONValue {
        var service = Members(of: old, "name", "type", "domain")
        service.keep("subtypes", "host", "port", "txt")
        service.keep("endpoints", "interfaces", "state")
        service.keep("own", "authenticated", "truncated")
        service.keep("withheld", as: "reason")
        service.add("key", old["identity"]?["state"])
        return service.object
    }

    /// A service that is published, or the addresses of a host, or an alias of this machine; and how that stands.
    /// - Parameter isOver: it is not tried again, which version 1 says of a daemon's alone.
    static func publication(_ old: JSONValue, isOver: Bool = false) -> [JSONValue.Member] {
        var members = Members(of: old)
        if old["type"] != nil {
            members.add("service", Members(of: old, "name", "type", "domain", "host", "port").object)
        } else {
            var host = Members(of: old)
            host.keep("host", as: "name")
            host.keep("alias")
            host.each("addresses") { address($0.string ?? "") }
            members.add("host", host.object)
        }
        var publication = Members(of: old)
        publication.keep("id")
        publication.add("state", state(old, isOver: isOver))
        publication.keep("wanted", "reason", "code", "uid")
        publication.add("from", old["origin"]?.string.map { $0 == "attached" ? "program" : $0 })
        publication.keep("path")
        publication.keep("check") { text in
            var check = Members(of: old)
            check.add("text", text)
            check.keep("health", as: "state")
            return check.object
        }
        publication.keep("warning", "changed")
        members.add("publication", publication.object)
        return members.list
    }

    /// Whoever is refused, or has lost its name, and is tried again, waits.
    private static func state(_ old: JSONValue, isOver: Bool) -> String {
        let isTried = old["retrying"]?.bool ?? (old["origin"] == nil && !isOver)
        switch old["state"]?.string {
        case "established": return "published"
        case "waiting", "registering": return "waiting"
        case "conflicted": return isTried ? "waiting" : "failed"
        case "failed": return old["retrying"]?.bool == true ? "waiting" : "failed"
        case "withheld": return "withheld"
        case "withdrawn": return "withdrawn"
        default: return "unknown"
        }
    }

    /// - Parameter text: an IPv6 address of a link with its zone.
    static func address(_ text: String, on interface: JSONValue? = nil) -> JSONValue {
        var address = Members(of: .null)
        address.add("address", text)
        address.add("family", text.utf8.contains(UInt8(ascii: ":")) ? "ipv6" : "ipv4")
        let zone = text.split(separator: "%", maxSplits: 1).dropFirst().first.map { JSONValue.string(String($0)) }
        address.add("interface", interface ?? zone)
        return address.object
    }

    /// A line for each host, in the order of their first lines.
    /// - Parameter old: a line for each address.
    static func hosts(_ old: [JSONValue]) -> [JSONValue] {
        let names = old.compactMap { $0["name"]?.string }.uniqued()
        return names.map { name in
            let addresses = old.filter { $0["name"]?.string == name }
                .map { address($0["address"]?.string ?? "", on: $0["interface"]) }
            let host = JSONValue.object([.init("name", .string(name)), .init("addresses", .array(addresses))])
            return envelope("found", [.init("host", host)])
        }
    }

    static func record(_ old: JSONValue) -> JSONValue {
        var record = Members(of: old, "name", "type", "class")
        record.keep("ttl", as: "ttlSeconds")
        record.keep("data", "priority", "weight", "port", "target", "txt", "interface")
        return record.object
    }

    /// How connecting went.
    static func connection(_ old: JSONValue) -> [JSONValue.Member] {
        var members = Members(of: old)
        members.keep("service", service)
        members.keep("endpoint", "source")
        members.seconds("resolving", as: "resolvingSeconds")
        members.seconds("milliseconds", as: "seconds")
        members.each("attempts") { attempt($0, of: $0["endpoint"]) }
        if let code = old["code"]?.string {
            members.add("error", JSONError(code: code, message: old["reason"]?.string ?? "").value)
        }
        return members.list
    }

    private static func attempt(_ old: JSONValue, of endpoint: JSONValue?) -> JSONValue {
        var attempt = Members(of: old)
        attempt.add("endpoint", endpoint)
        attempt.keep("outcome")
        attempt.seconds("start", as: "startSeconds")
        attempt.seconds("milliseconds", as: "seconds")
        attempt.keep("reason")
        return attempt.object
    }

    /// A host, with the addresses that were answered for it.
    private static func host(_ name: String, in answers: [JSONValue]) -> JSONValue {
        var known: Set<String> = []
        let addresses = answers.compactMap { answer -> JSONValue? in
            // A host may write its name in other letters than whoever asked.
            guard ["A", "AAAA"].contains(answer["type"]?.string),
                answer["name"]?.string?.hasSameFoldedBytes(as: "\(name).") == true,
                let data = answer["data"]?.string, known.insert(data).inserted
            else { return nil }
            guard case .v6(let v6, _)? = IPAddress(data), v6.isLinkLocal, let link = answer["interface"]?.string else {
                return address(data, on: answer["interface"])
            }
            return address("\(data)%\(link)", on: answer["interface"])
        }
        return .object([.init("name", .string(name)), .init("addresses", .array(addresses))])
    }

    /// What `doctor NAME` says.
    static func diagnosis(_ old: JSONValue) -> [JSONValue.Member] {
        var members = Members(of: old)
        let name = old["name"]?.string ?? ""
        switch old["kind"]?.string {
        case "service":
            let instance = try? ServiceInstance(fullName: name)
            var service = Members(of: .null)
            service.add("name", instance?.name.text ?? name)
            service.add("type", instance?.type.description)
            service.add("domain", instance?.domain.text)
            members.add("service", service.object)
        case "type": members.add("type", .object([.init("name", .string(name)), .init("domain", .string("local"))]))
        case "host": members.add("host", host(name, in: old["answers"]?.array ?? []))
        default: members.add("word", name)
        }
        members.keep("diagnoses", as: "faults")
        members.keep("notes", "asked")
        members.each("answers") { answer in
            var new = Members(of: answer)
            new.add("record", record(answer))
            new.add("from", address(answer["from"]?.string ?? "", on: answer["interface"]))
            new.keep("ways", "hops")
            new.seconds("milliseconds", as: "seconds")
            return new.object
        }
        members.keep("path") { path in
            var new = Members(of: path)
            new.add("from", address(path["host"]?.string ?? ""))
            new.keep("asked", "answered")
            return new.object
        }
        members.keep("avahi")
        members.each("refused") { refused in
            var new = Members(of: refused)
            new.add("address", address(refused["address"]?.string ?? ""))
            new.keep("reason")
            return new.object
        }
        members.each("attempts") { old in
            var endpoint = Members(of: address(old["address"]?.string ?? ""), "address", "family", "interface")
            endpoint.add("port", old["port"])
            return attempt(old, of: endpoint.object)
        }
        return members.list
    }
}
