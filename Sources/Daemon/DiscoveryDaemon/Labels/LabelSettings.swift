public import DNSSD

/// Whose labels are published: `labels:` of the configuration.
package enum LabelSource: String, Hashable, Sendable, CaseIterable {
    /// Containers of Podman.
    case podman
    /// Containers of Docker.
    case docker
    /// Units of systemd.
    case systemd
    /// The names in the rules of Traefik's routers, of containers.
    case traefik

    /// The most entries of the list.
    static let maximumCount = 8

    /// Reads `labels:`.
    static func list(_ value: YAMLValue) throws(ConfigurationError) -> [LabelSource] {
        var sources: [LabelSource] = []
        for entry in try value.list(atMost: maximumCount) {
            let source = try entry.word(LabelSource.self)
            guard !sources.contains(source) else { throw entry.error("\(source.rawValue) is there twice") }
            sources.append(source)
        }
        guard !sources.contains(.traefik) || sources.contains(.podman) || sources.contains(.docker) else {
            throw value.error("traefik is about labels of containers: add podman or docker")
        }
        return sources
    }
}

/// What labels may have published: nothing that is not named here, `labels:` of `access:`.
public struct LabelGrants: Hashable, Sendable {
    /// The types; nil is all.
    public var types: Set<ServiceType>? = []
    /// The names; nil is what the container or unit is called by whoever has started it.
    public var names: NamePatterns?
    /// Further names of this machine.
    public var aliases: Set<HostName> = []
    /// How many services and aliases all labels together have.
    public var number = 64

    /// The most that `number` may be.
    static let maximumNumber = 1024

    /// Nothing.
    public init() {}

    init(_ value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["types", "names", "aliases", "number"])
        if let value = mapping["types"] {
            let isAll = value.isScalar ? try value.text() == "*" : false
            types = isAll ? nil : Set(try DaemonConfiguration.types(value).map(\.base))
        }
        if let value = mapping["names"] {
            let patterns = try ExportRule.patterns(value)
            names = try value.reading { () throws(DiscoveryError) in try NamePatterns(patterns) }
        }
        for entry in try mapping["aliases"]?.list(atMost: 256) ?? [] {
            aliases.insert(try entry.parsed(OfferedAlias.init(_:)).name)
        }
        if let value = mapping["number"] { number = try value.integer(in: 0...Self.maximumNumber) }
    }
}
