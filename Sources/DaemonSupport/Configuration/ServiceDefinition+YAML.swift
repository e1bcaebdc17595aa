internal import DNSSD
internal import Discovery

extension ServiceDefinition {
    private static let keys = [
        "name", "type", "port", "domain", "txt", "subtypes", "interfaces", "family", "on-conflict", "check",
    ]

    init(_ value: YAMLValue, hostName: String) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: Self.keys)
        let name = try mapping.required("name")
        let nameText = try name.text()
        let typeValue = try mapping.required("type")
        let typeText = try typeValue.text()
        let type = try typeValue.reading { () throws(DiscoveryError) in try ServiceType(typeText) }
        let port = try mapping.required("port")
        let number = try port.integer(in: 1...65_535)
        var service = Service(
            name: try name.reading { () throws(DiscoveryError) in
                try ServiceName(NameTemplate.expand(nameText, host: hostName))
            },
            type: type, port: try port.reading { () throws(DiscoveryError) in try Port(number) })
        service.subtypes = type.subtype.map { [$0] } ?? []
        var subtypes: Set<ServiceType> = [type]
        if let value = mapping["domain"] {
            let text = try value.text()
            service.domain = try value.reading { () throws(DiscoveryError) in try Domain(text) }
        }
        if let value = mapping["txt"] { service.txt = try Self.txt(value) }
        for entry in try mapping["subtypes"]?.list(atMost: 64) ?? [] {
            let text = try entry.text()
            let narrowed = try entry.reading { () throws(DiscoveryError) in try type.withSubtype(text) }
            guard let label = narrowed.subtype, subtypes.insert(narrowed).inserted else {
                throw entry.error("the subtype \(text.quotedForMessage) is there twice")
            }
            service.subtypes.append(label)
        }
        if let value = mapping["interfaces"] {
            var patterns: [String] = []
            for entry in try value.list(atMost: InterfaceFilter.maximumPatternCount) {
                patterns.append(try entry.text())
            }
            service.interfaces = try value.reading { () throws(DiscoveryError) in try InterfaceFilter(patterns) }
        }
        switch try mapping["family"]?.word(FamilyWord.self) {
        case .ipv4: service.family = .ipv4
        case .ipv6: service.family = .ipv6
        case nil: break
        }
        self.init(service: service)
        if let value = mapping["on-conflict"] {
            onConflict = try value.word(ConflictWord.self) == .fail ? .fail : .rename
        }
        if let value = mapping["check"] { check = try CheckSpecification(value) }
    }

    private enum FamilyWord: String, CaseIterable { case ipv4, ipv6 }
    private enum ConflictWord: String, CaseIterable { case rename, fail }

    /// `key: text`, `key:` for a key without `=`, `key: {base64: …}` for any bytes.
    private static func txt(_ value: YAMLValue) throws(ConfigurationError) -> TXTRecord {
        var record = TXTRecord()
        for (key, entry) in try YAMLMapping.entries(of: value) {
            let bytes: [UInt8]?
            if entry.isNull {
                bytes = nil
            } else if entry.isMapping {
                let encoded = try YAMLMapping(entry, keys: ["base64"]).required("base64")
                guard let decoded = Base64.decode(try encoded.text()) else {
                    throw encoded.error("the value is not base64 with padding (RFC 4648 §4)")
                }
                bytes = decoded
            } else {
                bytes = Array(try entry.text().utf8)
            }
            try key.value.reading { () throws(DiscoveryError) in try record.append(key: key.text, value: bytes) }
        }
        return record
    }
}

extension CheckSpecification {
    /// `tcp`, or a mapping with `what:` (or `exec:` as a list) and the times and counts.
    init(_ value: YAMLValue) throws(ConfigurationError) {
        if value.isScalar {
            let text = try value.text()
            self = try value.reading { () throws(DiscoveryError) in try CheckSpecification(text) }
            return
        }
        let mapping = try YAMLMapping(value, keys: ["what", "exec", "interval", "timeout", "rise", "fall"])
        let kind: Kind
        switch (mapping["what"], mapping["exec"]) {
        case (let what?, nil):
            let text = try what.text()
            kind = try what.reading { () throws(DiscoveryError) in try Kind(text) }
        case (nil, let exec?):
            var command: [String] = []
            for entry in try exec.list(atMost: 64) { command.append(try entry.text()) }
            kind = .exec(command: command)
        default: throw value.error("a check has either what or exec")
        }
        let interval = try mapping["interval"]?.duration() ?? .seconds(10)
        let timeout = try mapping["timeout"]?.duration() ?? .seconds(2)
        let rise = try mapping["rise"]?.integer(in: Self.counts) ?? 2
        let fall = try mapping["fall"]?.integer(in: Self.counts) ?? 3
        self = try value.reading { () throws(DiscoveryError) in
            try CheckSpecification(kind, interval: interval, timeout: timeout, rise: rise, fall: fall)
        }
    }
}
