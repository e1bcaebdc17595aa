extension IPAddress {
    /// An IPv4 address that is written as one of IPv6 is itself.
    package var unmapped: IPAddress {
        guard case .v6(let v6, _) = self, v6.isIPv4Mapped else { return self }
        return .v4(IPv4Address(bits: UInt32(truncatingIfNeeded: v6.low)))
    }

    /// What is counted together where connections are limited: an IPv4 address, or the 64 bits of an IPv6 one that a host chooses within (RFC
    /// 4291 §2.5.1).
    package var network: IPAddress {
        guard case .v6(let v6, _) = unmapped else { return unmapped }
        return .v6(IPv6Address(high: v6.high, low: 0), scope: 0)
    }
}
