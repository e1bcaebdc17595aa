public import DNSSD
public import Discovery
public import DiscoveryJSON

/// The body of `POST /v1/registrations`.
public struct RegistrationRequest: Hashable, Sendable {
    /// A check that must pass for the service to be advertised.
    public struct Check: Hashable, Sendable {
        /// `tcp`, `http:PATH`, `exec:CMD`, `unit:NAME.service`, `pid:N`.
        public var text: String
        /// Milliseconds between two checks, as requested; the range is validated when the check is created.
        public var intervalMilliseconds: Int?
        /// Milliseconds that one check may take.
        public var timeoutMilliseconds: Int?
        /// How many checks in a row must pass before the service counts as healthy.
        public var rise: Int?
        /// How many must fail before it counts as unhealthy.
        public var fall: Int?

        /// It connects to this machine: of a service of another it says nothing.
        public var looksAtThisMachine: Bool { text == "tcp" || text.hasPrefix("http:") }

        /// Creates a check with the daemon's times and counts.
        public init(_ text: String) { self.text = text }
    }

    /// What to publish.
    public var service: OfferedService
    /// What to do when the name is taken.
    public var onConflict: ConflictPolicy
    /// The check that must pass; nil for none.
    public var check: Check?

    /// Creates a request.
    public init(_ service: OfferedService, onConflict: ConflictPolicy = .rename, check: Check? = nil) {
        self.service = service
        self.onConflict = onConflict
        self.check = check
    }
}

extension JSONWriter {
    /// Writes a request as one object.
    public mutating func request(_ request: RegistrationRequest) {
        object { $0.requestMembers(request) }
    }

    /// Writes the members of a request.
    public mutating func requestMembers(_ request: RegistrationRequest) {
        let service = request.service
        if !service.isAddressRecord {
            member("name", service.name.text)
            member("type", service.type.description)
            member("domain", service.domain.text)
            member("port", Int(service.port.rawValue))
            key("txt")
            txt(service.txt)
            member("subtypes", service.subtypes)
        } else if service.domain != .local {
            member("domain", service.domain.text)
        }
        if !service.interfaces.patterns.isEmpty { member("interfaces", service.interfaces.patterns) }
        if let family = service.family { member("family", family.rawValue) }
        if let host = service.host {
            member("host", host.name.text)
            if host.isAlias { member("alias", true) }
            if !host.addresses.isEmpty { member("addresses", host.addresses.map(\.description)) }
        }
        // Another name would be another host, but of an alias.
        if !service.isAddressRecord || service.isAlias { member("onConflict", request.onConflict.rawValue) }
        guard let check = request.check else { return }
        member("check", check.text)
        if let interval = check.intervalMilliseconds { member("checkIntervalMilliseconds", interval) }
        if let timeout = check.timeoutMilliseconds { member("checkTimeoutMilliseconds", timeout) }
        if let rise = check.rise { member("rise", rise) }
        if let fall = check.fall { member("fall", fall) }
    }
}

extension RegistrationRequest {
    private static let keys: Set<String> = [
        "v", "name", "type", "domain", "port", "txt", "subtypes", "interfaces", "family", "host", "addresses", "alias",
        "onConflict", "check", "checkIntervalMilliseconds", "checkTimeoutMilliseconds", "rise", "fall",
    ]

    private static let addressKeys: Set<String> = ["v", "host", "addresses", "interfaces", "family"]
    private static let aliasKeys: Set<String> = ["v", "host", "alias", "domain", "interfaces", "family", "onConflict"]

    /// Reads the body of a request. `type` defaults to `_witap._tcp`, `domain` to `local`. `host` and `addresses` without `name`, `type` and
    /// `port` are an address record; `host` and `alias` are a further name of this machine.
    /// - Throws: status 400 with the broken rule. An unknown key is an error, so that a misspelt one is noticed.
    public init(_ json: JSONValue) throws(ControlError) {
        guard let members = json.members else { throw Self.broken("the body must be an object") }
        for member in members where !Self.keys.contains(member.key) {
            throw Self.broken("\(member.key.quotedForMessage): no such key")
        }
        do throws(DiscoveryError) {
            let isService = json["name"] != nil || json["type"] != nil || json["port"] != nil
            guard !isService, json["addresses"] != nil || json["alias"] != nil else {
                try self.init(checked: json)
                return
            }
            let isAlias = json["addresses"] == nil
            for member in members where !(isAlias ? Self.aliasKeys : Self.addressKeys).contains(member.key) {
                throw Self.wrong(
                    member.key, "left out: \(isAlias ? "an alias" : "addresses") without a service have none")
            }
            if isAlias { try self.init(alias: json) } else { try self.init(addresses: json) }
        } catch {
            throw ControlError(error)
        }
    }

    private init(addresses json: JSONValue) throws(DiscoveryError) {
        guard let host = try Self.host(json) else { throw Self.wrong("host", "text, as there are \"addresses\"") }
        let record = try OfferedService(
            addressesOf: host, interfaces: Self.interfaces(json), family: Self.family(json))
        self.init(record, onConflict: .fail)
    }

    private init(alias json: JSONValue) throws(DiscoveryError) {
        let domain = try Self.domain(json)
        guard let host = try Self.host(json, in: domain), host.isAlias else {
            throw Self.wrong("alias", "true, or left out")
        }
        let alias = try OfferedService(
            alias: OfferedAlias(host.name.text, in: domain), interfaces: Self.interfaces(json),
            family: Self.family(json))
        try self.init(alias, onConflict: Self.policy(json))
    }

    private static func domain(_ json: JSONValue) throws(DiscoveryError) -> Domain {
        try optional("domain", json["domain"], \.string, "text").map { text throws(DiscoveryError) in try Domain(text) }
            ?? .local
    }

    private static func policy(_ json: JSONValue) throws(DiscoveryError) -> ConflictPolicy {
        guard let text = try optional("onConflict", json["onConflict"], \.string, "text") else { return .rename }
        guard let policy = ConflictPolicy(rawValue: text) else { throw wrong("onConflict", "rename or fail") }
        return policy
    }

    private static func interfaces(_ json: JSONValue) throws(DiscoveryError) -> InterfaceFilter {
        try InterfaceFilter(optional("interfaces", json["interfaces"], \.strings, "an array of texts") ?? [])
    }

    private static func family(_ json: JSONValue) throws(DiscoveryError) -> IPAddress.Family? {
        guard let text = try optional("family", json["family"], \.string, "text") else { return nil }
        guard let family = IPAddress.Family(rawValue: text) else { throw wrong("family", "ipv4 or ipv6") }
        return family
    }

    private init(checked json: JSONValue) throws(DiscoveryError) {
        var service = try OfferedService(
            name: try Self.require("name", json["name"]?.string, "text"),
            type: try Self.optional("type", json["type"], \.string, "text") ?? "_witap._tcp",
            domain: try Self.domain(json).text,
            port: try Self.require("port", json["port"]?.integer, "a whole number"),
            txt: try Self.txt(json["txt"]),
            subtypes: try Self.optional("subtypes", json["subtypes"], \.strings, "an array of texts") ?? []
        )
        _ = try service.type.checkedForAvahi()
        for label in service.subtypes { _ = try service.type.base.withSubtype(label).checkedForAvahi() }
        service.interfaces = try Self.interfaces(json)
        service.family = try Self.family(json)
        service.host = try Self.host(json, in: service.domain)
        try self.init(service, onConflict: Self.policy(json))
        guard let text = try Self.optional("check", json["check"], \.string, "text") else { return }
        var check = Check(text)
        guard service.host?.isAlias ?? true || !check.looksAtThisMachine else {
            throw Self.wrong("check", "exec, unit or pid: tcp and http look at this machine, not at \"host\"")
        }
        check.intervalMilliseconds = try Self.whole("checkIntervalMilliseconds", json)
        check.timeoutMilliseconds = try Self.whole("checkTimeoutMilliseconds", json)
        check.rise = try Self.whole("rise", json)
        check.fall = try Self.whole("fall", json)
        self.check = check
    }

    /// - Parameter domain: where an alias is.
    private static func host(_ json: JSONValue, in domain: Domain = .local) throws(DiscoveryError) -> OfferedHost? {
        let texts = try optional("addresses", json["addresses"], \.strings, "an array of texts") ?? []
        let isAlias = try optional("alias", json["alias"], \.bool, "true or false") ?? false
        guard let name = try optional("host", json["host"], \.string, "text") else {
            guard texts.isEmpty, !isAlias else {
                throw wrong("host", "text, as there \(isAlias ? "is \"alias\"" : "are \"addresses\"")")
            }
            return nil
        }
        if isAlias {
            guard texts.isEmpty else { throw wrong("addresses", "left out: those of an alias are this machine's") }
            return OfferedHost(alias: try OfferedAlias(name, in: domain))
        }
        var addresses: [IPAddress] = []
        for text in texts {
            guard let address = IPAddress(text) else { throw wrong("addresses", "an array of IPv4 or IPv6 addresses") }
            addresses.append(address)
        }
        return try OfferedHost(name: HostName(name), addresses: addresses)
    }

    /// Reads a TXT record: an object of texts, null, or `{"base64": text}`.
    /// - Throws: status 400 with the broken rule.
    package static func txtRecord(_ json: JSONValue) throws(ControlError) -> TXTRecord {
        do throws(DiscoveryError) {
            return try txt(json)
        } catch {
            throw ControlError(error)
        }
    }

    private static func txt(_ json: JSONValue?) throws(DiscoveryError) -> TXTRecord {
        var record = TXTRecord()
        guard let json else { return record }
        guard let members = json.members else { throw wrong("txt", "an object") }
        for member in members {
            guard let value = member.value.txtValue else {
                throw wrong("txt", "an object of texts, null, or {\"base64\": text}")
            }
            try record.append(key: member.key, value: value)
        }
        return record
    }

    private static func whole(_ key: String, _ json: JSONValue) throws(DiscoveryError) -> Int? {
        try optional(key, json[key], \.integer, "a whole number")
    }

    private static func require<Value>(
        _ key: String,
        _ value: Value?,
        _ kind: String
    ) throws(DiscoveryError) -> Value {
        guard let value else { throw wrong(key, kind) }
        return value
    }

    private static func optional<Value>(
        _ key: String,
        _ json: JSONValue?,
        _ value: (JSONValue) -> Value?,
        _ kind: String
    ) throws(DiscoveryError) -> Value? {
        guard let json, json != .null else { return nil }
        return try require(key, value(json), kind)
    }

    private static func wrong(_ key: String, _ kind: String) -> DiscoveryError {
        DiscoveryError(DiscoveryError.Code("invalid-request"), "\"\(key)\" must be \(kind)")
    }

    private static func broken(_ reason: String) -> ControlError { ControlError(400, "invalid-request", reason) }
}
