internal import DNSSD
internal import Discovery
internal import DiscoveryControl

extension YAMLMapping {
    /// An entry with the addresses of a host, and none of what every service has.
    var isAddressRecord: Bool { !isService && self["addresses"] != nil }

    /// An entry with further names of this machine, and none of what every service has.
    var isAlias: Bool { !isService && self["addresses"] == nil && self["alias"] != nil }

    private var isService: Bool { self["name"] != nil || self["type"] != nil || self["port"] != nil }
}

extension RegistrationRequest {
    /// The most aliases of one list.
    private static let maximumAliases = 64

    /// What an entry has published: a service with its aliases, aliases alone, or addresses of another host.
    /// - Parameter aliases: those of the whole file, on which a service may be.
    static func all(
        _ value: YAMLValue, hostName: String, aliases: Set<HostName>
    ) throws(ConfigurationError) -> [RegistrationRequest] {
        let mapping = try YAMLMapping(value, keys: keys)
        // Of a domain that is wrong, which is said below, there are none.
        let domain = mapping["domain"].map { try? Domain($0.text()) } ?? .local
        let own = domain.flatMap { domain in
            mapping.read("alias") { value throws(ConfigurationError) in
                try Self.aliases(value, in: domain, hostName: hostName)
            }
        }
        if mapping.isAlias {
            let mapping = try YAMLMapping(value, keys: ["alias", "domain", "interfaces", "family", "on-conflict"])
            _ = mapping.parsed("domain", Domain.init(_:))
            let interfaces = mapping.read("interfaces", Self.interfaces)
            let family: IPAddress.Family? = mapping.word("family")
            let conflict: ConflictWord? = mapping.word("on-conflict")
            return try definitions(
                of: own ?? [], in: value, interfaces ?? .all, family, conflict == .fail ? .fail : .rename)
        }
        let known = aliases.union((own ?? []).map(\.name))
        guard let definition = try RegistrationRequest(value, hostName: hostName, aliases: known) else { return [] }
        let service = definition.service
        // One that the service is on comes with it.
        let beside = (own ?? []).filter { $0.name != service.host?.name }
        return [definition]
            + (try definitions(of: beside, in: value, service.interfaces, service.family, definition.onConflict))
    }

    /// A list of names; `%h` is the machine's.
    static func aliases(
        _ value: YAMLValue, in domain: Domain = .local, hostName: String
    ) throws(ConfigurationError) -> [OfferedAlias] {
        var aliases: [OfferedAlias] = []
        for entry in try value.list(atMost: maximumAliases) {
            let alias = try entry.parsed { text throws(DiscoveryError) in
                try OfferedAlias(NameTemplate.expand(text, host: hostName), in: domain)
            }
            guard !aliases.contains(where: { $0.name == alias.name }) else {
                throw entry.error("the alias \(alias.name) is there twice")
            }
            aliases.append(alias)
        }
        return aliases
    }

    /// Aliases alone, each by itself.
    static func definitions(
        of aliases: [OfferedAlias], in value: YAMLValue, _ interfaces: InterfaceFilter = .all,
        _ family: IPAddress.Family? = nil, _ onConflict: ConflictPolicy = .rename
    ) throws(ConfigurationError) -> [RegistrationRequest] {
        var definitions: [RegistrationRequest] = []
        for alias in aliases {
            let service = try value.reading { () throws(DiscoveryError) in
                try OfferedService(alias: alias, interfaces: interfaces, family: family)
            }
            definitions.append(RegistrationRequest(service, onConflict: onConflict))
        }
        return definitions
    }
}

extension RegistrationRequest {
    /// The addresses of another host without a service: `host`, `addresses`, and where.
    init?(addresses value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["host", "addresses", "interfaces", "family"])
        let host = mapping.readRequired("host") { host throws(ConfigurationError) in
            try Self.host(
                host, addresses: try mapping.required("addresses").list(atMost: OfferedHost.maximumAddressCount))
        }
        let interfaces = mapping.read("interfaces", Self.interfaces)
        let family: IPAddress.Family? = mapping.word("family")
        guard let host else { return nil }
        let record = try value.reading { () throws(DiscoveryError) in
            try OfferedService(addressesOf: host, interfaces: interfaces ?? .all, family: family)
        }
        self.init(record, onConflict: .fail)
    }
}

extension RegistrationRequest {
    private static let keys = [
        "name", "type", "port", "domain", "txt", "subtypes", "interfaces", "family", "host", "addresses", "alias",
        "on-conflict", "check",
    ]

    /// Nil if a required part is missing or wrong; this and all other errors are recorded.
    private init?(_ value: YAMLValue, hostName: String, aliases: Set<HostName>) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: Self.keys)
        if mapping.isAddressRecord {
            try self.init(addresses: value)
            return
        }
        let name = mapping.readRequired("name") { value throws(ConfigurationError) in
            try value.parsed { text throws(DiscoveryError) in
                try ServiceName(NameTemplate.expand(text, host: hostName))
            }
        }
        let type = mapping.readRequired("type") { value throws(ConfigurationError) in
            try value.parsed(ServiceType.init(named:))
        }
        let port = mapping.readRequired("port") { value throws(ConfigurationError) in
            let number = try value.integer(in: 1...65_535)
            return try value.reading { () throws(DiscoveryError) in try Port(number) }
        }
        let domain = mapping.parsed("domain", Domain.init(_:))
        let txt = mapping.read("txt", Self.txt)
        let interfaces = mapping.read("interfaces", Self.interfaces)
        let family: IPAddress.Family? = mapping.word("family")
        let conflict: ConflictWord? = mapping.word("on-conflict")
        let specification = mapping.read("check", CheckSpecification.init(_:))
        let check = specification.map { Check($0) }
        let labels = mapping.read("subtypes") { value throws(ConfigurationError) in
            try Self.subtypes(value, of: type)
        }
        let host = mapping.read("host") { value throws(ConfigurationError) in
            try Self.host(
                value, addresses: try mapping["addresses"]?.list(atMost: OfferedHost.maximumAddressCount) ?? [],
                domain: domain ?? .local, aliases: aliases)
        }
        if host?.isAlias == false, check?.looksAtThisMachine == true, let value = mapping["check"] {
            value.faults.note(value.error("tcp and http look at this machine, not at the host"))
        }
        guard let name, let type, let port else { return nil }
        var service = OfferedService(name: name, type: type, port: port)
        service.subtypes = (type.subtype.map { [$0] } ?? []) + (labels ?? [])
        if let domain { service.domain = domain }
        if let txt { service.txt = txt }
        if let interfaces { service.interfaces = interfaces }
        service.host = host
        service.family = family
        if let fault = service.wildcardFault { throw value.error(fault.message) }
        self.init(service, onConflict: conflict == .fail ? .fail : .rename, check: check)
    }

    static func interfaces(_ value: YAMLValue) throws(ConfigurationError) -> InterfaceFilter {
        let patterns = try value.texts(atMost: InterfaceFilter.maximumPatternCount)
        return try value.reading { () throws(DiscoveryError) in try InterfaceFilter(patterns) }
    }

    static func host(
        _ value: YAMLValue, addresses: [YAMLValue], domain: Domain = .local, aliases: Set<HostName> = []
    ) throws(ConfigurationError) -> OfferedHost {
        var known: [IPAddress] = []
        for entry in addresses {
            guard let address = IPAddress(try entry.text()) else {
                throw entry.error("addresses must be IPv4 or IPv6 addresses")
            }
            known.append(address)
        }
        let text = try value.text()
        return try value.reading { () throws(DiscoveryError) in
            let name = try HostName(text)
            if known.isEmpty, aliases.contains(name), let alias = try? OfferedAlias(name.text, in: domain),
                alias.name == name
            {
                return OfferedHost(alias: alias)
            }
            return try OfferedHost(name: name, addresses: known)
        }
    }

    /// The labels of a list; each adds a subtype.
    private static func subtypes(
        _ value: YAMLValue, of type: ServiceType?
    ) throws(ConfigurationError) -> [String] {
        guard let type else { return [] }
        var subtypes: Set<ServiceType> = [type]
        var labels: [String] = []
        for entry in try value.list(atMost: 64) {
            let text = try entry.text()
            let narrowed = try entry.reading { () throws(DiscoveryError) in
                try type.withSubtype(text).checkedForAvahi()
            }
            guard let label = narrowed.subtype, subtypes.insert(narrowed).inserted else {
                throw entry.error("the subtype \(text.quotedForMessage) is there twice")
            }
            labels.append(label)
        }
        return labels
    }

    private enum ConflictWord: String, CaseIterable { case rename, fail }

    /// `key: text`, `key:` for a key without `=`, `key: {base64: …}` for any bytes.
    private static func txt(_ value: YAMLValue) throws(ConfigurationError) -> TXTRecord {
        var record = TXTRecord()
        for (key, entry) in try YAMLMapping.entries(of: value) {
            value.faults.reading { () throws(ConfigurationError) in
                let bytes = try Self.bytes(entry)
                try key.value.reading { () throws(DiscoveryError) in try record.append(key: key.text, value: bytes) }
            }
        }
        return record
    }

    /// A TXT value; nil for a key without `=`.
    private static func bytes(_ entry: YAMLValue) throws(ConfigurationError) -> [UInt8]? {
        if entry.isNull { return nil }
        guard entry.isMapping else { return Array(try entry.text().utf8) }
        let encoded = try YAMLMapping(entry, keys: ["base64"]).required("base64")
        guard let decoded = Base64.decode(try encoded.text()) else {
            throw encoded.error("the value is not base64 with padding (RFC 4648 §4)")
        }
        return decoded
    }
}

extension CheckSpecification {
    /// `tcp`, or a mapping with `what:` (or `exec:` as a list) and the times and counts.
    init(_ value: YAMLValue) throws(ConfigurationError) {
        if value.isScalar {
            self = try value.parsed { text throws(DiscoveryError) in try CheckSpecification(text) }
            return
        }
        let mapping = try YAMLMapping(value, keys: ["what", "exec", "interval", "timeout", "rise", "fall"])
        let kind: Kind
        switch (mapping["what"], mapping["exec"]) {
        case (let what?, nil):
            kind = try what.parsed(Kind.init(_:))
        case (nil, let exec?):
            kind = .exec(command: try exec.texts(atMost: 64))
        default: throw value.error("a check has either what or exec")
        }
        let interval = try mapping["interval"]?.duration() ?? .seconds(10)
        let timeout = try mapping["timeout"]?.duration() ?? .seconds(2)
        if let value = mapping["timeout"], timeout > interval {
            value.faults.doubt(
                "\(value.place): the timeout is longer than the interval: a check that hangs makes the next one late")
        }
        let rise = try mapping["rise"]?.integer(in: Self.counts) ?? 2
        let fall = try mapping["fall"]?.integer(in: Self.counts) ?? 3
        self = try value.reading { () throws(DiscoveryError) in
            try CheckSpecification(kind, interval: interval, timeout: timeout, rise: rise, fall: fall)
        }
    }
}

/// The services of all files; no two are the same.
struct ServiceList {
    let hostName: String
    /// What names end in that hosts of other links and sites have here.
    var mirrored: [String] = []
    private(set) var definitions: [RegistrationRequest] = []
    private var places: [ServiceInstance: String] = [:]
    /// Those of the main file, on which services may be.
    private var aliases: Set<HostName> = []

    init(hostName: String) { self.hostName = hostName }

    /// Reads a file of `services.d`: one service, or several under `services:`.
    mutating func read(dropIn root: YAMLValue) throws(ConfigurationError) {
        let isList = try YAMLMapping.entries(of: root).contains { $0.key.text == "services" }
        guard isList else { return try add(root) }
        let mapping = try YAMLMapping(root, keys: ["services"])
        if let list = mapping["services"] { try read(list: list) }
    }

    /// Reads a list of services.
    mutating func read(list: YAMLValue) throws(ConfigurationError) {
        for entry in try list.list(atMost: DaemonConfiguration.maximumServices) {
            list.faults.reading { () throws(ConfigurationError) in try add(entry) }
        }
    }

    /// Reads further names of this machine.
    mutating func read(aliases value: YAMLValue) throws(ConfigurationError) {
        let names = try RegistrationRequest.aliases(value, hostName: hostName)
        aliases.formUnion(names.map(\.name))
        for definition in try RegistrationRequest.definitions(of: names, in: value) { try add(definition, value) }
    }

    private mutating func add(_ value: YAMLValue) throws(ConfigurationError) {
        let value = value.part(value.node, "the service")
        for definition in try RegistrationRequest.all(value, hostName: hostName, aliases: aliases) {
            try add(definition, value)
        }
    }

    private mutating func add(_ definition: RegistrationRequest, _ value: YAMLValue) throws(ConfigurationError) {
        let instance = definition.service.instance
        if let place = places[instance] {
            let type = definition.service.isAlias ? "" : " of type \(instance.type)"
            throw value.error("\(instance.name)\(type) is there already: \(place)")
        }
        if let host = definition.service.host, host.isAnsweredHere,
            let ending = mirrored.first(where: { host.name.text.lowercased().hasSuffix($0) })
        {
            throw value.error(
                "\(host.name) ends in \(ending), as names of mirrored hosts do: another name, or another label in mirror"
            )
        }
        guard definitions.count < DaemonConfiguration.maximumServices else {
            throw value.error("more than \(DaemonConfiguration.maximumServices) services")
        }
        places[instance] = value.place
        definitions.append(definition)
    }
}
