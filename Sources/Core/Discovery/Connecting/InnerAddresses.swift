import DNSSD

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
