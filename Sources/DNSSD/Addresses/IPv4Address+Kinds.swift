extension IPv4Address {
    /// Whether the address is 0.0.0.0.
    public var isUnspecified: Bool { bits == 0 }
    /// Whether the address is in 0.0.0.0/8, "this network" (RFC 791 §3.2), which is never a destination.
    public var isThisNetwork: Bool { bits >> 24 == 0 }
    /// Whether the address is in 127.0.0.0/8.
    public var isLoopback: Bool { bits >> 24 == 127 }
    /// Whether the address is in 169.254.0.0/16 (RFC 3927).
    public var isLinkLocal: Bool { bits >> 16 == 0xA9FE }
    /// Whether the address is in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 (RFC 1918).
    public var isPrivate: Bool { bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8 }
    /// Whether the address is in 224.0.0.0/4.
    public var isMulticast: Bool { bits >> 28 == 0xE }
    /// Whether the address is 255.255.255.255.
    public var isBroadcast: Bool { bits == .max }
}
