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
