package import DNSSD

/// A host other than this machine, whose services a gateway publishes.
package struct ZoneHost: Hashable, Sendable {
    /// Its name on the link, which identifies it within the gateway, even after a restart. It never reaches the zone.
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
