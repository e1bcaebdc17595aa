public import DNSSD

/// What a new configuration changes: a service that stays as it was is not touched, least of all withdrawn.
public struct ConfigurationChange: Hashable, Sendable {
    /// A service under the same name, type and domain that is described otherwise.
    public struct Difference: Hashable, Sendable {
        /// As it was.
        public let old: ServiceDefinition
        /// As it is to be.
        public let new: ServiceDefinition
    }

    /// To be published.
    public let added: [ServiceDefinition]
    /// To be withdrawn.
    public let removed: [ServiceDefinition]
    /// To be published otherwise.
    public let changed: [Difference]
    /// To be left alone.
    public let unchanged: [ServiceDefinition]
    /// Types to be kept warm from now on.
    public let browseAdded: [ServiceType]
    /// Types to be kept warm no longer.
    public let browseRemoved: [ServiceType]
    /// Keys that were changed but are only read at the start.
    public let needsRestart: [String]

    /// Whether nothing differs that a reload can change; access rules, limits and log level are simply taken over.
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
        if old.tcpListen != new.tcpListen { restart.append("listen") }
        needsRestart = restart
    }
}
