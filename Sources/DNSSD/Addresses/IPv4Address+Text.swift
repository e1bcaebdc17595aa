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
