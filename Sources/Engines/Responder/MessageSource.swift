package import DNSSD

/// How a message came.
package struct MessageSource: Hashable, Sendable {
    /// The port of multicast DNS.
    package static let port: UInt16 = 5353

    /// To whom a message went.
    package enum Audience: Hashable, Sendable {
        /// To the group, in a frame to all hosts of the link.
        case group
        /// To the group, in a frame to this machine alone: access points send all so, and so does who hides it from the others.
        case groupInOneFrame
        /// To this machine's address.
        case machine
    }

    package var family: IPAddress.Family
    /// The sender, without a scope.
    package var source: IPAddress
    package var port: UInt16
    package var audience: Audience
    /// The sender is certainly on this link (RFC 6762 §11).
    package var isOnLink: Bool
    /// The sender is this machine: another program of it, or this one.
    package var isFromHere: Bool

    package init(
        _ family: IPAddress.Family, from source: IPAddress, port: UInt16 = Self.port, to audience: Audience = .group,
        isOnLink: Bool = true, isFromHere: Bool = false
    ) {
        (self.family, self.source, self.port) = (family, source, port)
        (self.audience, self.isOnLink, self.isFromHere) = (audience, isOnLink, isFromHere)
    }

    var isToGroup: Bool { audience != .machine }

    /// From a resolver that does not speak multicast DNS (RFC 6762 §6.7).
    var isOfResolver: Bool { port != Self.port }
}
