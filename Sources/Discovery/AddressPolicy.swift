public import DNSSD

/// Which addresses may be dialled. mDNS is not authenticated (RFC 6762 §21): whoever is on the link can announce a service
/// at any address, and have this machine connect to itself, to a cloud's metadata, or to the internet.
///
/// Judged in this order: what never can be a destination is refused; then `deny`; then `allow` takes; then the rules, which
/// refuse all but addresses of the link, private and unique local ones.
public struct AddressPolicy: Hashable, Sendable {
    /// Blocks that are dialled whatever the rules say.
    public var allow: [CIDR]
    /// Blocks that are not dialled, whatever `allow` says.
    public var deny: [CIDR]

    /// The rules alone, or with exceptions.
    public init(allow: [CIDR] = [], deny: [CIDR] = []) {
        self.allow = allow
        self.deny = deny
    }

    /// Why an address is not dialled.
    public struct Refusal: Hashable, Sendable, CustomStringConvertible {
        /// A sentence's end for people, as "a multicast address"; safe for a terminal.
        public let description: String
        /// An entry of `allow` would permit it.
        public let canBeAllowed: Bool
    }

    /// Judges an endpoint.
    /// - Parameter seenOnLoopback: the service was seen on a loopback interface, so it is this machine's own.
    /// - Returns: why it must not be dialled; nil when it may.
    public func refusal(
        of endpoint: Endpoint,
        seenOnLoopback: Bool,
        local: LocalAddresses
    ) -> Refusal? {
        let address = endpoint.address
        if let reason = Self.impossibility(of: endpoint, local) { return Refusal(reason, canBeAllowed: false) }
        // What a translator would send on to is denied with it.
        let meant = [address] + (address.embeddedIPv4.map { [.v4($0)] } ?? [])
        if let block = deny.first(where: { block in meant.contains { block.contains($0) } }) {
            return Refusal("denied by \(block)", canBeAllowed: false)
        }
        if allow.contains(where: { $0.contains(address) }) { return nil }
        return Self.rule(against: endpoint, seenOnLoopback, local).map { Refusal($0, canBeAllowed: true) }
    }

    private static func impossibility(of endpoint: Endpoint, _ local: LocalAddresses) -> String? {
        let address = endpoint.address
        if address.isUnspecified { return "the unspecified address" }
        if case .v4(let v4) = address, v4.isThisNetwork { return "an address of \"this network\" (0.0.0.0/8)" }
        if address.isMulticast { return "a multicast address" }
        if address.isBroadcast || local.isSubnetBroadcast(address, endpoint.interface) { return "a broadcast address" }
        if address.isIPv4Mapped { return "an IPv4-mapped address" }
        if case .v6(let v6, _) = address, v6.isIPv4Compatible { return "an IPv4-compatible address" }
        if case .v6(let v6, let scope) = address, v6.isLinkLocal, scope == 0 {
            return "a link-local address without scope"
        }
        return nil
    }

    private static func rule(
        against endpoint: Endpoint,
        _ seenOnLoopback: Bool,
        _ local: LocalAddresses
    ) -> String? {
        let (address, interface) = (endpoint.address, endpoint.interface)
        if address.isLoopback {
            return seenOnLoopback && local.isLoopback(interface)
                ? nil : "a loopback address of a service that was not seen on the loopback interface"
        }
        if address.isNAT64 { return "a NAT64 address" }
        if metadata.contains(where: { $0.contains(address) }) { return "a cloud's metadata address" }
        if local.isOwn(address) {
            return seenOnLoopback ? nil : "this machine's own address, of a service that is not seen to be its own"
        }
        if case .v6(let v6, let scope) = address, v6.isLinkLocal {
            return scope == interface.index ? nil : "a link-local address of another interface"
        }
        let isNear = address.isPrivate || address.isLinkLocal || local.isOnLink(address, interface)
        return isNear ? nil : "neither on \(interface.name)'s link nor private"
    }

    private static let metadata: [CIDR] = ["169.254.169.254", "fd00:ec2::254"].compactMap { try? CIDR($0) }
}

extension AddressPolicy.Refusal {
    fileprivate init(_ reason: String, canBeAllowed: Bool) {
        description = reason.escapedForTerminal
        self.canBeAllowed = canBeAllowed
    }
}

extension LocalAddresses {
    /// Whether an interface leads back to this machine.
    public func isLoopback(_ interface: NetworkInterface) -> Bool { loopbacks.contains(interface) }
}

extension IPAddress {
    fileprivate var embeddedIPv4: IPv4Address? {
        guard case .v6(let address, _) = self else { return nil }
        return address.embeddedIPv4
    }
}
