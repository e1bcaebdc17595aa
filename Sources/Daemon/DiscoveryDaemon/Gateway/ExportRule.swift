public import DNSSD

/// What of a link a gateway brings into a zone, to another link, or to another site: `export:`, `mirror:` and `mirror-listen:` of the
/// configuration. What no rule names stays where it is.
public struct ExportRule: Hashable, Sendable {
    /// Where the services are.
    public enum Source: Hashable, Sendable {
        /// On links of this machine.
        case links(InterfaceFilter)
        /// At another site.
        case peer(MirrorPeer)
    }

    /// Where the services are published.
    public enum Destination: Hashable, Sendable {
        /// A sub-domain of its own for each link.
        case zone(Domain)
        /// Other links of this machine.
        case links(MirrorLinks)
        /// Nowhere: other sites are told.
        case peers(MirrorListen)
    }

    /// The most types that a rule has.
    public static let maximumTypes = 64

    /// What is looked at.
    public var source: Source
    /// Where what is found there is published.
    public var destination: Destination
    /// The types that are exported, without subtypes.
    public var types: [ServiceType]
    /// The subtypes under which a service stays known, where it is (RFC 6763 §7.1). Nobody can ask which a service has.
    public var subtypes: [ServiceType]
    /// The names that are exported.
    public var names: NamePatterns

    /// A rule of these parts.
    public init(
        from source: Source, to destination: Destination, types: [ServiceType], names: NamePatterns = .all
    ) {
        self.source = source
        self.destination = destination
        self.types = types.map(\.base).uniqued()
        subtypes = types.filter { $0.subtype != nil }
        self.names = names
    }
}

extension ExportRule {
    /// The domain in which the services are published.
    public var domain: Domain {
        switch destination {
        case .zone(let domain): domain
        case .links, .peers: .local
        }
    }

    /// The links that are looked at; all of another site's.
    public var interfaces: InterfaceFilter {
        switch source {
        case .links(let links): links
        case .peer: .all
        }
    }

    /// What is asked for: the types, and on a link each subtype by itself. Another site tells a service's subtypes with it.
    var followed: [ServiceType] {
        switch source {
        case .links: types + subtypes
        case .peer: types
        }
    }

    /// Those of a service's subtypes that the rule names.
    func subtypes(of service: DiscoveredService) -> [String] {
        let seen = Set(service.subtypes.map { $0.lowercased() })
        return subtypes.filter { $0.base == service.instance.type.base }.compactMap(\.subtype)
            .filter { seen.contains($0.lowercased()) }
    }

    /// The most entries of `export:`, and of `mirror:`.
    static let maximumCount = 32

    /// Reads one entry of `export:`; nil if a part is missing or wrong, which is recorded.
    init?(_ value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["interface", "domain", "types", "names"])
        let interfaces = mapping.readRequired("interface", Self.links)
        let domain = mapping.readRequired("domain") { value throws(ConfigurationError) in
            let domain = try value.parsed(Domain.init(_:))
            guard domain != .local else { throw value.error("services of the link are not exported to the link") }
            if let fault = domain.wildcardFault { throw value.error(fault.message) }
            return domain
        }
        let (types, names) = Self.services(mapping)
        guard let interfaces, let domain, let types else { return nil }
        self.init(from: .links(interfaces), to: .zone(domain), types: types, names: names ?? .all)
    }

    /// Reads which services a rule takes.
    static func services(_ mapping: YAMLMapping) -> (types: [ServiceType]?, names: NamePatterns?) {
        let types = mapping.readRequired("types") { value throws(ConfigurationError) in
            let types = try DaemonConfiguration.types(value)
            guard 1...Self.maximumTypes ~= types.count else {
                throw value.error("types has 1 to \(Self.maximumTypes) entries")
            }
            guard Set(types).count == types.count else { throw value.error("a type is there twice") }
            return types
        }
        let names = mapping.read("names") { value throws(ConfigurationError) in
            let patterns = try Self.patterns(value)
            return try value.reading { () throws(DiscoveryError) in try NamePatterns(patterns) }
        }
        return (types, names)
    }

    /// Links of this machine.
    static func links(_ value: YAMLValue) throws(ConfigurationError) -> InterfaceFilter {
        let patterns = try patterns(value)
        return try value.reading { () throws(DiscoveryError) in try InterfaceFilter(patterns) }
    }

    /// One pattern, or a list of them.
    static func patterns(_ value: YAMLValue) throws(ConfigurationError) -> [String] {
        if value.isScalar { return [try value.text()] }
        let patterns = try value.texts(atMost: InterfaceFilter.maximumPatternCount)
        guard !patterns.isEmpty else { throw value.error("\(value.name) has no entry") }
        return patterns
    }

    /// Reads `export:`. Two rules must not say the same domain: their services would contend for names and hosts.
    static func rules(_ value: YAMLValue) throws(ConfigurationError) -> [ExportRule] {
        var rules: [ExportRule] = []
        for entry in try value.list(atMost: maximumCount) {
            let rule = value.faults.reading { () throws(ConfigurationError) in try ExportRule(entry) } ?? nil
            guard let rule else { continue }
            if rules.contains(where: { $0.domain == rule.domain }) {
                value.faults.note(entry.error("\(rule.domain) is there twice: a sub-domain for each link"))
            }
            rules.append(rule)
        }
        return rules
    }
}
