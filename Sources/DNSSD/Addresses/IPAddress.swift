/// An IPv4 or IPv6 address; an IPv6 address has the scope without which a link-local one cannot be dialled (RFC 4007
/// §6).
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address; `scope` is the interface index for link-local addresses, else 0.
    case v6(IPv6Address, scope: UInt32)

    /// IPv4 or IPv6.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// IPv4
        case ipv4
        /// IPv6
        case ipv6
    }

    /// The family.
    public var family: Family {
        switch self {
        case .v4: .ipv4
        case .v6: .ipv6
        }
    }
}

/// Four bytes in network order.
public struct IPv4Address: Hashable, Sendable {
    /// The address as one number, most significant byte first on the wire.
    public let bits: UInt32

    /// Creates an address from its bits, the first octet most significant.
    public init(bits: UInt32) { self.bits = bits }
}

/// Sixteen bytes in network order.
public struct IPv6Address: Hashable, Sendable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Creates an address from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension IPAddress {
    /// 0.0.0.0 or `::`
    public var isUnspecified: Bool { kind(\.isUnspecified, \.isUnspecified) }
    /// 127.0.0.0/8 or `::1`
    public var isLoopback: Bool { kind(\.isLoopback, \.isLoopback) }
    /// 169.254.0.0/16 or fe80::/10
    public var isLinkLocal: Bool { kind(\.isLinkLocal, \.isLinkLocal) }
    /// RFC 1918, or the unique local addresses fc00::/7
    public var isPrivate: Bool { kind(\.isPrivate, \.isUniqueLocal) }
    /// 224.0.0.0/4 or ff00::/8
    public var isMulticast: Bool { kind(\.isMulticast, \.isMulticast) }
    /// 255.255.255.255
    public var isBroadcast: Bool { self == .v4(IPv4Address(bits: .max)) }
    /// ::ffff:0:0/96
    public var isIPv4Mapped: Bool { kind({ _ in false }, \.isIPv4Mapped) }
    /// 64:ff9b::/96 or 64:ff9b:1::/48
    public var isNAT64: Bool { kind({ _ in false }, \.isNAT64) }

    private func kind(_ v4: (IPv4Address) -> Bool, _ v6: (IPv6Address) -> Bool) -> Bool {
        switch self {
        case .v4(let address): v4(address)
        case .v6(let address, _): v6(address)
        }
    }
}
