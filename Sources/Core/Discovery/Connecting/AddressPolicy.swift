public import DNSSD

/// Decides which addresses may be dialled. mDNS is not authenticated (RFC 6762 §21): anyone on the link can announce a
/// service at any address, and make this machine connect to itself, to a cloud's metadata service or to the internet.
///
/// The checks run in this order: addresses that can never be a destination or that hand out a cloud's credentials are
/// refused; `deny` is refused; `allow` is accepted; the rules judge the rest. The rules accept an address on the link
/// where the service was seen, and a private or unique local address that the kernel routes through that link. An
/// address from a DNS server is on no link: in a named domain the rules accept all but loopback, link-local and
/// site-local addresses and, unless the service is this machine's, its own; in other domains none. An IPv4 address within
/// an IPv6 address, to which a translator or a tunnel may forward, is judged as well.
public struct AddressPolicy: Hashable, Sendable {
    /// Blocks that may be dialled whatever the rules say.
    public var allow: [CIDR]
    /// Blocks that are never dialled, whatever `allow` says.
    public var deny: [CIDR]
    /// Domains, with their subdomains, whose DNS servers may name any address: those configured or named on a command
    /// line, but not those that a network recommended.
    public var namedDomains: Set<Domain>

    /// Creates a policy: the rules alone by default.
    public init(allow: [CIDR] = [], deny: [CIDR] = [], namedDomains: Set<Domain> = []) {
        (self.allow, self.deny, self.namedDomains) = (allow, deny, namedDomains)
    }

    /// The reason an address must not be dialled.
    public struct Refusal: Hashable, Sendable, CustomStringConvertible {
        /// The end of a sentence, such as "a multicast address"; safe for a terminal.
        public let description: String
        /// Whether an entry in `allow` would permit the address.
        public let canBeAllowed: Bool
    }

    /// Judges an endpoint.
    /// - Parameters:
    ///   - endpoint: the address, and the interface on which it was learned.
    ///   - domain: the service's domain.
    ///   - isOwn: whether this machine publishes the service.
    ///   - local: this machine's addresses and networks.
    ///   - routes: this machine's routes.
    /// - Returns: the reason the endpoint must not be dialled; nil if it may be.
    public func refusal(
        of endpoint: Endpoint,
        in domain: Domain = .local,
        isOwn: Bool,
        local: LocalAddresses,
        routes: some RouteLookup
    ) -> Refusal? {
        let address = endpoint.address
        if let reason = Self.impossibility(of: endpoint, local) { return Refusal(reason, canBeAllowed: false) }
        // A translator or the end of a tunnel may forward to a forbidden address.
        let inner = address.innerIPv4.map { IPAddress.v4($0) }
        let meant = [address] + inner
        if meant.contains(where: CredentialAddresses.contains) {
            return Refusal("a cloud's address for metadata and credentials", canBeAllowed: false)
        }
        for address in inner {
            let end = Endpoint(address: address, port: endpoint.port, interface: nil)
            guard let reason = Self.impossibility(of: end, local) else { continue }
            let kind = endpoint.address.isNAT64 ? "a NAT64 address" : "an IPv6 address"
            return Refusal("\(kind) with \(address) in it: \(reason)", canBeAllowed: false)
        }
        if let block = deny.first(where: { block in meant.contains { block.contains($0) } }) {
            return Refusal("denied by \(block)", canBeAllowed: false)
        }
        if allow.contains(where: { $0.contains(address) }) { return nil }
        let reason =
            if let interface = endpoint.interface {
                Self.rule(against: address, seenOn: interface, isOwn, local, routes)
            } else {
                rule(against: meant, in: domain, isOwn, local, routes)
            }
        return reason.map { Refusal($0, canBeAllowed: true) }
    }

    private static func impossibility(of endpoint: Endpoint, _ local: LocalAddresses) -> String? {
        let address = endpoint.address
        if address.isUnspecified { return "the unspecified address" }
        if case .v4(let v4) = address, v4.isThisNetwork { return "an address of \"this network\" (0.0.0.0/8)" }
        if address.isMulticast { return "a multicast address" }
        if address.isBroadcast || local.isSubnetBroadcast(address, endpoint.interface) { return "a broadcast address" }
        if endpoint.interface == nil {
            if address.isLoopback { return "a loopback address that a DNS server names" }
            if address.isLinkLocal { return "a link-local address that a DNS server names" }
        }
        if address.isIPv4Mapped { return "an IPv4-mapped address" }
        if case .v6(let v6, _) = address, v6.isIPv4Compatible { return "an IPv4-compatible address" }
        if case .v6(let v6, let scope) = address, v6.isLinkLocal, scope == 0 {
            return "a link-local address without scope"
        }
        return nil
    }

    private func rule(
        against meant: [IPAddress], in domain: Domain, _ isOwn: Bool, _ local: LocalAddresses,
        _ routes: some RouteLookup
    ) -> String? {
        if meant.contains(where: \.isNAT64) { return "a NAT64 address" }
        if meant.contains(where: \.isSiteLocal) { return "a site-local address (fec0::/10, RFC 3879)" }
        if !isOwn, meant.contains(where: { local.isOwn($0) || routes.route(to: $0) == .own }) {
            return "this machine's own address, of a service in \(domain) that is not seen to be its own"
        }
        return namedDomains.contains(where: domain.isWithin)
            ? nil : "an address from \(domain), a domain that was neither configured nor named"
    }

    private static func rule(
        against address: IPAddress,
        seenOn interface: NetworkInterface,
        _ isOwn: Bool,
        _ local: LocalAddresses,
        _ routes: some RouteLookup
    ) -> String? {
        if address.isLoopback {
            return isOwn && local.isLoopback(interface)
                ? nil : "a loopback address of a service that was not seen on the loopback interface"
        }
        if address.isNAT64 { return "a NAT64 address" }
        if case .v6(let v6, let scope) = address, v6.isLinkLocal, !local.isOwn(address) {
            return scope == interface.index ? nil : "a link-local address of another interface"
        }
        let route = routes.route(to: address)
        if local.isOwn(address) || route == .own {
            return isOwn ? nil : "this machine's own address, of a service that is not seen to be its own"
        }
        let isNear = address.isPrivate || address.isLinkLocal
        // Only this machine's own programs can be heard on loopback, and they may announce another host.
        if isNear, local.isLoopback(interface) { return nil }
        return distance(of: address, interface, route, local)
    }

    /// Explains why an address does not belong to the link where the service was seen; nil if it does.
    private static func distance(
        of address: IPAddress,
        _ interface: NetworkInterface,
        _ route: Route?,
        _ local: LocalAddresses
    ) -> String? {
        if local.isOnLink(address, interface) {
            // A more specific network, such as a VPN's, leads elsewhere. Two interfaces to the same network may stand
            // in for each other.
            guard case .leaves(let other, _) = route, other != interface.index,
                !local.shareNetwork(of: address, interface, other)
            else { return nil }
            return "reached over \(local.name(other)), though the service was seen on \(interface.name)"
        }
        if case .leaves(interface.index, let isDirect) = route, address.isPrivate || (address.isLinkLocal && isDirect) {
            return nil
        }
        return address.isPrivate
            ? "a private address that is not reached over \(interface.name), on which the service was seen"
            : address.isLinkLocal
                ? "not on \(interface.name)'s link" : "neither on \(interface.name)'s link nor private"
    }
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

/// Addresses where clouds serve a machine's credentials and metadata. They are never dialled, not even if allowed: no
/// service lives there, and a leaked credential costs more than any service is worth.
enum CredentialAddresses {
    /// By provider: AWS instance metadata, time and DNS, and ECS and EKS credentials; AWS over IPv6; GCP, OCI and
    /// OpenStack over IPv6; Scaleway over both;
    /// Alibaba Cloud; Azure.
    private static let blocks: [CIDR] = [
        "169.254.169.0/24", "169.254.170.0/24", "fd00:ec2::/32", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
        "fe80::a9fe:a9fe", "169.254.42.42", "fd00:42::42", "100.100.100.200",
        "168.63.129.16",
    ].compactMap { try? CIDR($0) }

    static func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }
}

/// A block of addresses: `10.0.0.0/8`, `fd00::/8` (RFC 4632 §3.1, RFC 4291 §2.3).
public struct CIDR: Hashable, Sendable {
    /// The first address of the block; without scope.
    public let address: IPAddress
    /// The number of leading bits that are fixed: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// Creates the block that contains an address; nil if the prefix is negative or longer than the address.
    public init?(containing address: IPAddress, prefixLength: Int) {
        guard 0...address.bitWidth ~= prefixLength else { return nil }
        self.address = address.masked(to: prefixLength)
        self.prefixLength = prefixLength
    }

    /// Parses a block, such as `10.0.0.0/8`, or a single address.
    /// - Throws: `.invalidAddress` if the text is neither, contains a scope, or sets bits after the prefix.
    public init(_ text: String) throws(DiscoveryError) {
        func broken(_ rule: String) -> DiscoveryError {
            DiscoveryError(.invalidAddress, "\(text.quotedForMessage): \(rule)")
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.contains("%"), let address = IPAddress(String(first)) else {
            throw broken("a block of addresses is written as 10.0.0.0/8 or fd00::/8")
        }
        var length = address.bitWidth
        if parts.count == 2 {
            guard let number = Self.number(parts[1]), number <= length else {
                throw broken("after the / comes a number from 0 to \(length)")
            }
            length = number
        }
        let start = address.masked(to: length)
        guard start == address else {
            throw broken("bits are set after the prefix; the block is \(start)/\(length)")
        }
        self.address = address
        self.prefixLength = length
    }

    /// Returns whether an address is in the block; its scope is ignored.
    public func contains(_ address: IPAddress) -> Bool {
        address.family == self.address.family && address.masked(to: prefixLength) == self.address
    }

    /// Parses digits only; `Int(_:)` also accepts a sign.
    private static func number(_ text: Substring) -> Int? {
        guard 1...3 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }
}

extension CIDR: CustomStringConvertible {
    /// The block in CIDR notation, such as `10.0.0.0/8`.
    public var description: String { "\(address)/\(prefixLength)" }
}

extension IPAddress {
    /// 32 for IPv4, 128 for IPv6.
    package var bitWidth: Int { family == .ipv4 ? 32 : 128 }

    /// The address with all bits after the prefix cleared, and without its scope.
    package func masked(to length: Int) -> IPAddress {
        switch self {
        case .v4(let address): .v4(IPv4Address(bits: address.bits & ~Self.tail32(length)))
        case .v6(let address, _):
            .v6(
                IPv6Address(
                    high: address.high & ~Self.tail64(length), low: address.low & ~Self.tail64(length - 64)),
                scope: 0)
        }
    }

    /// Returns the number of leading bits that two addresses share; 0 if their families differ.
    package func commonPrefixLength(with other: IPAddress) -> Int {
        switch (self, other) {
        case (.v4(let one), .v4(let other)): return (one.bits ^ other.bits).leadingZeroBitCount
        case (.v6(let one, _), .v6(let other, _)):
            let high = (one.high ^ other.high).leadingZeroBitCount
            return high < 64 ? high : 64 + (one.low ^ other.low).leadingZeroBitCount
        default: return 0
        }
    }

    /// Swift's `>>` of a fixed-width integer gives 0 for an amount beyond its width.
    private static func tail32(_ length: Int) -> UInt32 { UInt32.max >> UInt32(max(0, length)) }
    private static func tail64(_ length: Int) -> UInt64 { UInt64.max >> UInt64(max(0, length)) }
}
