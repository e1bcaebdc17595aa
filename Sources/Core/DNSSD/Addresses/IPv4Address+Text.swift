extension IPv4Address: CustomStringConvertible {
    /// The address as four decimal numbers, such as `10.0.0.7`.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for byte in bytes {
            if !text.isEmpty { text.append(UInt8(ascii: ".")) }
            if byte >= 100 { text.append(UInt8(ascii: "0") + byte / 100) }
            if byte >= 10 { text.append(UInt8(ascii: "0") + byte / 10 % 10) }
            text.append(UInt8(ascii: "0") + byte % 10)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads four decimal numbers; nil for any other text, and for leading zeros, which some programs read as octal.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard 1...3 ~= part.count, part.allSatisfy(\.isASCIIDigit),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            let number = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) }
            guard number <= 255 else { return nil }
            bits = bits << 8 | number
        }
        self.init(bits: bits)
    }

    /// Creates an address from four bytes in network order; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        self.init(bits: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The four bytes in network order.
    public var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32($0))) } }
}

extension IPv4Address: Comparable {
    /// Orders by number.
    public static func < (one: IPv4Address, other: IPv4Address) -> Bool { one.bits < other.bits }
}

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
