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
