/// An IPv4 or IPv6 address. An IPv6 address has a scope, without which a link-local one cannot be dialled (RFC 4007
/// §6).
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address; `scope` is the interface index for link-local addresses, else 0.
    case v6(IPv6Address, scope: UInt32)

    /// The version of the Internet Protocol.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// IPv4.
        case ipv4
        /// IPv6.
        case ipv6
    }

    /// The address's family.
    public var family: Family {
        switch self {
        case .v4: .ipv4
        case .v6: .ipv6
        }
    }
}

/// An IPv4 address.
public struct IPv4Address: Hashable, Sendable {
    /// The address as one number; its first octet is the most significant byte.
    public let bits: UInt32

    /// Creates an address from a number whose most significant byte is the first octet.
    public init(bits: UInt32) { self.bits = bits }
}

/// An IPv6 address.
public struct IPv6Address: Hashable, Sendable {
    /// The first eight bytes as one number, the first byte most significant.
    public let high: UInt64
    /// The last eight bytes as one number, the first byte most significant.
    public let low: UInt64

    /// Creates an address from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension IPAddress {
    /// Whether the address is 0.0.0.0 or `::`.
    public var isUnspecified: Bool { kind(\.isUnspecified, \.isUnspecified) }
    /// Whether the address is in 127.0.0.0/8 or is `::1`.
    public var isLoopback: Bool { kind(\.isLoopback, \.isLoopback) }
    /// Whether the address is in 169.254.0.0/16 or fe80::/10.
    public var isLinkLocal: Bool { kind(\.isLinkLocal, \.isLinkLocal) }
    /// Whether the address is private (RFC 1918) or unique local (fc00::/7, RFC 4193).
    public var isPrivate: Bool { kind(\.isPrivate, \.isUniqueLocal) }
    /// Whether the address is in 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool { kind(\.isMulticast, \.isMulticast) }
    /// Whether the address is 255.255.255.255.
    public var isBroadcast: Bool { self == .v4(IPv4Address(bits: .max)) }
    /// Whether the address is in ::ffff:0:0/96.
    public var isIPv4Mapped: Bool { kind({ _ in false }, \.isIPv4Mapped) }
    /// Whether the address is in 64:ff9b::/96 or 64:ff9b:1::/48.
    public var isNAT64: Bool { kind({ _ in false }, \.isNAT64) }

    private func kind(_ v4: (IPv4Address) -> Bool, _ v6: (IPv6Address) -> Bool) -> Bool {
        switch self {
        case .v4(let address): v4(address)
        case .v6(let address, _): v6(address)
        }
    }
}
