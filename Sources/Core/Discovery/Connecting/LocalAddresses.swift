public import DNSSD

/// This machine's own addresses, and the networks it reaches without a router. `AddressPolicy` and `EndpointOrder`
/// judge by them.
public struct LocalAddresses: Hashable, Sendable {
    /// An address of an interface, with the length of its network's prefix.
    public struct Entry: Hashable, Sendable {
        /// The interface that has the address.
        public let interface: NetworkInterface
        /// The address; a link-local one has its scope.
        public let address: IPAddress
        /// The length of its network's prefix.
        public let prefixLength: Int

        /// Creates an entry.
        public init(interface: NetworkInterface, address: IPAddress, prefixLength: Int) {
            (self.interface, self.address, self.prefixLength) = (interface, address, prefixLength)
        }
    }

    /// A network that is reached without a router.
    public struct Link: Hashable, Sendable {
        /// The interface that leads to it.
        public let interface: NetworkInterface
        /// Its addresses.
        public let prefix: CIDR

        /// Creates a value.
        public init(interface: NetworkInterface, prefix: CIDR) {
            self.interface = interface
            self.prefix = prefix
        }
    }

    /// Each interface's addresses.
    public let entries: [Entry]
    /// Further networks, such as those that a router advertises on-link while the addresses have a prefix of 128 bits
    /// (RFC 4861 §4.6.2).
    public let links: [Link]
    /// Interfaces that lead back to this machine.
    public let loopbacks: Set<NetworkInterface>

    /// Creates a value without asking the system; see `system()`.
    public init(entries: [Entry], links: [Link] = [], loopbacks: Set<NetworkInterface> = []) {
        (self.entries, self.links, self.loopbacks) = (entries, links, loopbacks)
    }
}

extension LocalAddresses {
    /// Returns whether an address is this machine's own; its scope is ignored.
    public func isOwn(_ address: IPAddress) -> Bool {
        entries.contains { $0.address.masked(to: 128) == address.masked(to: 128) }
    }

    /// Returns whether an address is reached over an interface without a router.
    public func isOnLink(_ address: IPAddress, _ interface: NetworkInterface) -> Bool {
        prefixes(of: interface).contains { $0.contains(address) }
    }

    /// Returns whether two interfaces, the second one by its index, share a network that contains the address.
    func shareNetwork(of address: IPAddress, _ interface: NetworkInterface, _ other: UInt32) -> Bool {
        let others = entries.map(\.interface) + links.map(\.interface)
        guard let other = others.first(where: { $0.index == other }) else { return false }
        let theirs = prefixes(of: other)
        return prefixes(of: interface).contains { $0.contains(address) && theirs.contains($0) }
    }

    /// Returns the name of the interface with this index.
    func name(_ index: UInt32) -> String {
        let interfaces = entries.lazy.map(\.interface) + links.lazy.map(\.interface)
        return interfaces.first { $0.index == index }?.name ?? "interface \(index)"
    }

    /// Returns whether the address is a broadcast address of the interface's network: the network's last address
    /// (RFC 919 §7), or its first, which old hosts use (RFC 1122 §3.3.6).
    /// - Parameters:
    ///   - address: an IPv6 address is never one.
    ///   - interface: nil for any interface.
    public func isSubnetBroadcast(_ address: IPAddress, _ interface: NetworkInterface?) -> Bool {
        guard case .v4(let v4) = address else { return false }
        let prefixes = interface.map(prefixes) ?? Set(entries.map(\.interface)).flatMap(prefixes)
        return prefixes.contains { prefix in
            guard case .v4(let first) = prefix.address, prefix.prefixLength < 31 else { return false }
            let last = first.bits | UInt32.max >> UInt32(prefix.prefixLength)
            return v4.bits == first.bits || v4.bits == last
        }
    }

    /// Returns the address from which packets to a destination would come (RFC 6724 §5, rules 1, 2, 6 and 8); nil if
    /// none fits.
    ///
    /// Chooses among the interface's addresses. If there is no interface, or it has none of the family, chooses among
    /// the addresses of all interfaces that are neither loopback nor link-local.
    public func source(for destination: IPAddress, on interface: NetworkInterface?) -> IPAddress? {
        let family = entries.filter { $0.address.family == destination.family }
        var candidates = family.filter { $0.interface == interface }
        if candidates.isEmpty {
            guard !destination.isLinkLocal else { return nil }
            candidates = family.filter { !loopbacks.contains($0.interface) && !$0.address.isLinkLocal }
        }
        return candidates.map(\.address).reduce(nil) { best, next in
            guard let best else { return next }
            return SourcePreference(next, for: destination) > SourcePreference(best, for: destination) ? next : best
        }
    }

    private func prefixes(of interface: NetworkInterface) -> [CIDR] {
        // A mask of no bits would make the whole internet a link.
        let own = entries.lazy.filter { $0.interface == interface && $0.prefixLength > 0 }
            .compactMap { CIDR(containing: $0.address, prefixLength: $0.prefixLength) }
        return own + links.lazy.filter { $0.interface == interface }.map(\.prefix)
    }
}

/// The fit of a source address to a destination; greater is better.
private struct SourcePreference: Comparable {
    private let keys: [Int]

    init(_ source: IPAddress, for destination: IPAddress) {
        let (scope, wanted) = (source.policyScope, destination.policyScope)
        // Rule 2: the smallest scope that reaches the destination, else the greatest there is.
        let appropriate = scope >= wanted ? 100 - scope : scope - 100
        keys = [
            source.masked(to: 128) == destination.masked(to: 128) ? 1 : 0,
            appropriate,
            source.policy.label == destination.policy.label ? 1 : 0,
            source.commonPrefixLength(with: destination),
        ]
    }

    static func < (one: SourcePreference, other: SourcePreference) -> Bool {
        one.keys.lexicographicallyPrecedes(other.keys)
    }
}

extension IPAddress {
    /// The IPv4 addresses to which packets for an IPv6 address may be forwarded: by a translator (NAT64, SIIT) or by the
    /// end of a tunnel (6to4, Teredo, ISATAP).
    var innerIPv4: [IPv4Address] {
        guard case .v6(let address, _) = self else { return [] }
        let (high, low) = (address.high, address.low)
        if let embedded = address.embeddedIPv4 { return [embedded] }
        if address.isNAT64 { return Self.translated(high, low) }
        // 6to4 (2002::/16, RFC 3056 §2), and the Teredo server and client (2001::/32, RFC 4380 §4).
        if high >> 48 == 0x2002 { return [Self.address(high >> 16)] }
        if high >> 32 == 0x2001_0000 { return [Self.address(high), Self.address(~low)] }
        // ISATAP (RFC 5214 §6.1), and ::ffff:0:0:0/96 of SIIT (RFC 2765 §2.1).
        if low >> 32 & ~0x0200_0000 == 0x5EFE { return [Self.address(low)] }
        if high == 0, low >> 32 == 0xFFFF_0000 { return [Self.address(low)] }
        return []
    }

    /// Whether the address is in fec0::/10, which no network should use (RFC 3879).
    var isSiteLocal: Bool {
        if case .v6(let address, _) = self { address.high >> 54 == 0x3FB } else { false }
    }

    /// Within 64:ff9b:1::/48 a translator may use a prefix of 48, 56, 64 or 96 bits, each of which places the IPv4 address
    /// elsewhere (RFC 6052 §2.2). Where it is not, there are mostly zeros.
    private static func translated(_ high: UInt64, _ low: UInt64) -> [IPv4Address] {
        let places = [(high << 16) | (low >> 40 & 0xFFFF), (high << 24) | (low >> 32 & 0xFF_FFFF), low >> 24]
        return places.map(address).filter { !$0.isThisNetwork } + [address(low)]
    }

    private static func address(_ bits: UInt64) -> IPv4Address {
        IPv4Address(bits: UInt32(truncatingIfNeeded: bits))
    }
}
