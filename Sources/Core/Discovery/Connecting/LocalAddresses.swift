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
            self.interface = interface
            self.address = address
            self.prefixLength = prefixLength
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
        self.entries = entries
        self.links = links
        self.loopbacks = loopbacks
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
