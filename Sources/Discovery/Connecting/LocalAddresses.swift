public import DNSSD

/// This machine's own addresses, and which addresses it reaches without a router: what dialling is judged by, with
/// its routes.
public struct LocalAddresses: Hashable, Sendable {
    /// An address of an interface, with the length of its network's prefix.
    public struct Entry: Hashable, Sendable {
        /// Which interface.
        public let interface: NetworkInterface
        /// The address; link-local ones with their scope.
        public let address: IPAddress
        /// The length of the prefix of its network.
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
        /// Over which interface.
        public let interface: NetworkInterface
        /// Which addresses.
        public let prefix: CIDR

        /// Creates a value.
        public init(interface: NetworkInterface, prefix: CIDR) {
            self.interface = interface
            self.prefix = prefix
        }
    }

    /// The addresses.
    public let entries: [Entry]
    /// Networks beyond those of the addresses, as a router advertises them for addresses with a prefix of 128 bits
    /// (RFC 4861 §4.6.2).
    public let links: [Link]
    /// Interfaces that lead back to this machine.
    public let loopbacks: Set<NetworkInterface>

    /// Creates a value; nothing is asked of the system.
    public init(entries: [Entry], links: [Link] = [], loopbacks: Set<NetworkInterface> = []) {
        self.entries = entries
        self.links = links
        self.loopbacks = loopbacks
    }
}

extension LocalAddresses {
    /// Whether an address is this machine's own; a scope does not count.
    public func isOwn(_ address: IPAddress) -> Bool {
        entries.contains { $0.address.masked(to: 128) == address.masked(to: 128) }
    }

    /// Whether an address is reached over the interface without a router.
    public func isOnLink(_ address: IPAddress, _ interface: NetworkInterface) -> Bool {
        prefixes(of: interface).contains { $0.contains(address) }
    }

    /// Whether an interface and another, by its index, have in common a network that an address is in.
    func shareNetwork(of address: IPAddress, _ interface: NetworkInterface, _ other: UInt32) -> Bool {
        let others = entries.map(\.interface) + links.map(\.interface)
        guard let other = others.first(where: { $0.index == other }) else { return false }
        let theirs = prefixes(of: other)
        return prefixes(of: interface).contains { $0.contains(address) && theirs.contains($0) }
    }

    /// The name of an interface.
    func name(_ index: UInt32) -> String {
        let interfaces = entries.lazy.map(\.interface) + links.lazy.map(\.interface)
        return interfaces.first { $0.index == index }?.name ?? "interface \(index)"
    }

    /// Whether every host of the interface's network would take a packet to the address (RFC 919 §7): the network's
    /// last address, or its first, which was that once.
    /// - Parameter interface: nil: of any interface.
    public func isSubnetBroadcast(_ address: IPAddress, _ interface: NetworkInterface?) -> Bool {
        guard case .v4(let v4) = address else { return false }
        let prefixes = interface.map(prefixes) ?? Set(entries.map(\.interface)).flatMap(prefixes)
        return prefixes.contains { prefix in
            guard case .v4(let first) = prefix.address, prefix.prefixLength < 31 else { return false }
            let last = first.bits | UInt32.max >> UInt32(prefix.prefixLength)
            return v4.bits == first.bits || v4.bits == last
        }
    }

    /// The address from which a packet to a destination would come; nil when none fits (RFC 6724 §5, rules 1, 2, 6
    /// and 8, among the addresses of the interface, or of all when there is none, or it has none of the family).
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

/// How well a source address fits a destination; greater is better.
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
