public import DNSSD
public import UnicastEngine

/// A domain of the configuration: its settings, and where its key is.
public struct DomainDefinition: Hashable, Sendable {
    /// The settings, without the key.
    public var settings: DomainSettings
    /// The file of the key that signs updates, or the name of a credential; nil: nothing is published there.
    public var keyFile: String?
    /// File and line, for messages.
    public var place: String

    /// The settings with the key, which is read now. Blocks.
    /// - Throws: `.misconfigured` for a key that cannot be used; see `TSIGKey.init(file:)`.
    public func withKey() throws(DiscoveryError) -> DomainSettings {
        guard let keyFile else { return settings }
        var settings = settings
        settings.key = try TSIGKey(file: keyFile)
        return settings
    }

    /// Whether it has a key, and covers a domain.
    package func publishes(in domain: Domain) -> Bool { keyFile != nil && domain.isWithin(settings.domain) }
}

extension DomainDefinition {
    private static let keys = ["name", "server", "key", "ttl", "lease", "host", "addresses"]
    /// The most domains of a configuration.
    static let limit = 64

    /// Nil if a required part is missing or wrong; this and all other errors are recorded.
    init?(_ value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: Self.keys)
        let name = mapping.readRequired("name") { value throws(ConfigurationError) in
            let domain = try value.parsed(Domain.init(_:))
            guard !domain.isWithin(.local) else {
                throw value.error("\(domain) is the link's: multicast DNS has no server and no key")
            }
            if let fault = domain.wildcardFault { throw value.error(fault.message) }
            return domain
        }
        let server = mapping.parsed("server", ServerName.init(_:))
        let key = mapping.read("key") { value throws(ConfigurationError) in
            let path = try value.text()
            guard (1...4096).contains(path.utf8.count), !path.utf8.contains(0) else {
                throw value.error("key must be the path of a file, or the name of a credential")
            }
            return path
        }
        let ttl = mapping.read("ttl") { value throws(ConfigurationError) in
            try value.duration(in: .seconds(1)...(.seconds(86_400)), "from 1s to 24h")
        }
        let lease = mapping.read("lease") { value throws(ConfigurationError) in
            try value.duration(in: .seconds(10)...(.seconds(7 * 86_400)), "from 10s to 168h")
        }
        let host = mapping.read("host") { value throws(ConfigurationError) in
            let text = try value.text()
            let labels = text.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.count <= 4, labels.allSatisfy(Self.isHostLabel) else {
                throw value.error(
                    "host must be a label of letters, digits and hyphens, perhaps below others: web1.hosts")
            }
            return text
        }
        let addresses = mapping.read("addresses") { value throws(ConfigurationError) in
            var addresses: [IPAddress] = []
            for entry in try value.list(atMost: 32) {
                guard let address = IPAddress(try entry.text()), address.isPublishable else {
                    throw entry.error("an address must be one that other hosts can reach")
                }
                addresses.append(address)
            }
            return addresses
        }
        guard let name else { return nil }
        var settings = DomainSettings(name, server: server, host: host, addresses: addresses ?? [])
        if let ttl { settings.ttl = ttl }
        if let lease { settings.lease = lease }
        self.init(settings: settings, keyFile: key, place: value.place)
    }

    private static func isHostLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// The domains of a list, each once.
    static func list(_ value: YAMLValue) throws(ConfigurationError) -> [DomainDefinition] {
        var definitions: [DomainDefinition] = []
        for entry in try value.list(atMost: limit) {
            value.faults.reading { () throws(ConfigurationError) in
                let entry = entry.part(entry.node, "the domain")
                guard let definition = try DomainDefinition(entry) else { return }
                let name = definition.settings.domain
                if let other = definitions.first(where: { $0.settings.domain == name }) {
                    throw entry.error("\(name) is there already: \(other.place)")
                }
                definitions.append(definition)
            }
        }
        return definitions
    }
}

extension IPAddress {
    fileprivate var isPublishable: Bool {
        !isUnspecified && !isMulticast && !isBroadcast && !isLoopback && !isLinkLocal
    }
}

extension YAMLValue {
    /// A time within a range.
    fileprivate func duration(in range: ClosedRange<Duration>, _ words: String) throws(ConfigurationError) -> Duration {
        let duration = try duration()
        guard range.contains(duration) else { throw error("\(name) must be \(words)") }
        return duration
    }
}
