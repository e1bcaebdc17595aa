public import DNSSD

/// The difference between two configurations, so that unchanged services are neither touched nor withdrawn.
public struct ConfigurationChange: Hashable, Sendable {
    /// A service with the same name, type and domain but another description.
    public struct Difference: Hashable, Sendable {
        /// The old description.
        public let old: ServiceDefinition
        /// The new description.
        public let new: ServiceDefinition
    }

    /// Services to publish.
    public let added: [ServiceDefinition]
    /// Services to withdraw.
    public let removed: [ServiceDefinition]
    /// Services to publish with a new description.
    public let changed: [Difference]
    /// Services to leave alone.
    public let unchanged: [ServiceDefinition]
    /// Types to start keeping warm.
    public let browseAdded: [ServiceType]
    /// Types to stop keeping warm.
    public let browseRemoved: [ServiceType]
    /// Changed keys that are read only at the start.
    public let needsRestart: [String]

    /// Whether a reload has nothing to do; access rules, limits and log level are simply replaced.
    public var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && changed.isEmpty && browseAdded.isEmpty && browseRemoved.isEmpty
    }

    /// The change from one configuration to another, in the order of the new one.
    public init(from old: DaemonConfiguration, to new: DaemonConfiguration) {
        let before = Dictionary(old.services.map { ($0.service.instance, $0) }) { first, _ in first }
        let after = Set(new.services.map(\.service.instance))
        added = new.services.filter { before[$0.service.instance] == nil }
        removed = old.services.filter { !after.contains($0.service.instance) }
        changed = new.services.compactMap { definition in
            guard let old = before[definition.service.instance], old != definition else { return nil }
            return Difference(old: old, new: definition)
        }
        unchanged = new.services.filter { before[$0.service.instance] == $0 }
        browseAdded = new.browse.filter { !old.browse.contains($0) }
        browseRemoved = old.browse.filter { !new.browse.contains($0) }
        var restart: [String] = []
        if old.backend != new.backend { restart.append("backend") }
        if old.finder != new.finder { restart.append("finder") }
        if old.domains.map(\.unplaced) != new.domains.map(\.unplaced) { restart.append("domains") }
        if old.exports != new.exports { restart.append("export") }
        if old.tcpListen != new.tcpListen { restart.append("listen") }
        needsRestart = restart
    }
}

extension DomainDefinition {
    /// Another key file in the place of one is read at a reload.
    fileprivate var unplaced: DomainDefinition {
        DomainDefinition(settings, keyFile: keyFile == nil ? nil : "", place: "")
    }
}
