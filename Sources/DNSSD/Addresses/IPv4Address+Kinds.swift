extension IPv4Address {
    /// 0.0.0.0
    public var isUnspecified: Bool { bits == 0 }
    /// 0.0.0.0/8, "this network" (RFC 791 §3.2): never a destination.
    public var isThisNetwork: Bool { bits >> 24 == 0 }
    /// 127.0.0.0/8
    public var isLoopback: Bool { bits >> 24 == 127 }
    /// 169.254.0.0/16 (RFC 3927)
    public var isLinkLocal: Bool { bits >> 16 == 0xA9FE }
    /// 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 (RFC 1918)
    public var isPrivate: Bool { bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8 }
    /// 224.0.0.0/4
    public var isMulticast: Bool { bits >> 28 == 0xE }
    /// 255.255.255.255
    public var isBroadcast: Bool { bits == .max }
}
