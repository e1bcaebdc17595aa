package import DNSSD

/// How a message came.
package struct MessageSource: Hashable, Sendable {
    /// The port of multicast DNS.
    package static let port: UInt16 = 5353

    package var family: IPAddress.Family
    /// The sender, without a scope.
    package var source: IPAddress
    package var port: UInt16
    /// To the group; else to this machine alone.
    package var isToGroup: Bool
    /// The sender is certainly on this link (RFC 6762 §11).
    package var isOnLink: Bool
    /// The sender is this machine: another program of it, or this one.
    package var isFromHere: Bool

    package init(
        _ family: IPAddress.Family, from source: IPAddress, port: UInt16 = Self.port, isToGroup: Bool = true,
        isOnLink: Bool = true, isFromHere: Bool = false
    ) {
        (self.family, self.source, self.port) = (family, source, port)
        (self.isToGroup, self.isOnLink, self.isFromHere) = (isToGroup, isOnLink, isFromHere)
    }

    /// From a resolver that does not speak multicast DNS (RFC 6762 §6.7).
    var isOfResolver: Bool { port != Self.port }
}
