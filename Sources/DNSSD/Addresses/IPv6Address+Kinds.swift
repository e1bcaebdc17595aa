extension IPv6Address {
    /// Whether the address is `::`.
    public var isUnspecified: Bool { high == 0 && low == 0 }
    /// Whether the address is `::1`.
    public var isLoopback: Bool { high == 0 && low == 1 }
    /// Whether the address is in fe80::/10 (RFC 4291 §2.5.6).
    public var isLinkLocal: Bool { high >> 54 == 0x3FA }
    /// Whether the address is in fc00::/7 (RFC 4193).
    public var isUniqueLocal: Bool { high >> 57 == 0x7E }
    /// Whether the address is in ff00::/8.
    public var isMulticast: Bool { high >> 56 == 0xFF }
    /// Whether the address is in ::ffff:0:0/96 (RFC 4291 §2.5.5.2), where the system uses the embedded IPv4 address.
    public var isIPv4Mapped: Bool { high == 0 && low >> 32 == 0xFFFF }
    /// Whether the address is in ::/96 (RFC 4291 §2.5.5.1, deprecated) and neither `::` nor `::1`.
    public var isIPv4Compatible: Bool { high == 0 && low >> 32 == 0 && low > 1 }
    /// Whether the address is in 64:ff9b::/96 (RFC 6052) or 64:ff9b:1::/48 (RFC 8215), from where a translator forwards
    /// to an IPv4 address.
    public var isNAT64: Bool { (high == 0x0064_FF9B_0000_0000 && low >> 32 == 0) || high >> 16 == 0x0064_FF9B_0001 }

    /// The IPv4 address within a mapped, compatible or 64:ff9b::/96 address; nil for others.
    public var embeddedIPv4: IPv4Address? {
        let isWellKnownNAT64 = isNAT64 && high == 0x0064_FF9B_0000_0000
        guard isIPv4Mapped || isIPv4Compatible || isWellKnownNAT64 else { return nil }
        return IPv4Address(bits: UInt32(truncatingIfNeeded: low))
    }
}
