package import DNSSD

/// A host other than this machine, for whose services a gateway publishes.
package struct ZoneHost: Hashable, Sendable {
    /// What tells it from others of the same gateway, and stays the same over a restart: its name on the link. It never reaches the zone.
    package var identity: String
    /// The first label of its name in the zone.
    package var label: String
    /// Its addresses; at least one.
    package var addresses: Set<IPAddress>

    package init(identity: String, label: String, addresses: Set<IPAddress>) {
        self.identity = identity
        self.label = label
        self.addresses = addresses
    }
}
