internal import DNSSD
internal import Discovery
package import DiscoveryControl
internal import DiscoverySystem

/// What a reload changes.
package struct ConfigurationChange: Hashable, Sendable {
    /// Services to publish.
    package let added: [RegistrationRequest]
    /// Services to withdraw.
    package let removed: [RegistrationRequest]
    /// Services that have the name, type and domain of an earlier one, and are otherwise different.
    package let changed: [RegistrationRequest]
    /// Services to leave alone.
    package let unchanged: [RegistrationRequest]
    /// Changed keys that are read only at the start.
    package let needsRestart: [String]

    /// The change from one configuration to another, in the order of the new one.
    /// - Parameter first: that of the daemon's start; nil: the old one.
    package init(from old: DaemonConfiguration, to new: DaemonConfiguration, since first: DaemonConfiguration? = nil) {
        let before = Dictionary(old.services.map { ($0.service.instance, $0) }) { first, _ in first }
        let after = Set(new.services.map(\.service.instance))
        added = new.services.filter { before[$0.service.instance] == nil }
        removed = old.services.filter { !after.contains($0.service.instance) }
        changed = new.services.filter { new in before[new.service.instance].map { $0 != new } ?? false }
        unchanged = new.services.filter { before[$0.service.instance] == $0 }
        needsRestart = Self.needsRestart(first ?? old, new)
    }

    private static func needsRestart(_ old: DaemonConfiguration, _ new: DaemonConfiguration) -> [String] {
        var restart: [String] = []
        if (old.avahi ?? .auto, old.finder) != (new.avahi ?? .auto, new.finder) { restart.append("avahi") }
        if old.domains.map(\.unplaced) != new.domains.map(\.unplaced) { restart.append("domains") }
        if old.exports != new.exports { restart.append("export") }
        if old.mirrors != new.mirrors { restart.append("mirror") }
        if old.mirrorListen != new.mirrorListen { restart.append("mirror-listen") }
        if old.peers != new.peers { restart.append("peers") }
        if old.tcpListen != new.tcpListen { restart.append("listen") }
        if old.nss != new.nss { restart.append("nss") }
        if old.dns != new.dns { restart.append("dns") }
        if old.labels != new.labels { restart.append("labels") }
        if old.access.labels != new.access.labels { restart.append("access: labels") }
        if old.limits != new.limits { restart.append("limits") }
        return restart
    }
}

extension DomainDefinition {
    /// Another key file in the place of one is read at a reload.
    fileprivate var unplaced: DomainDefinition {
        DomainDefinition(settings: settings, keyFile: keyFile == nil ? nil : "", place: "")
    }
}
