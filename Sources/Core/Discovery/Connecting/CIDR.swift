public import DNSSD

/// A block of addresses: `10.0.0.0/8`, `fd00::/8` (RFC 4632 §3.1, RFC 4291 §2.3).
public struct CIDR: Hashable, Sendable {
    /// The first address of the block; without scope.
    public let address: IPAddress
    /// The number of leading bits that are fixed: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// Creates the block that contains an address; nil if the prefix is negative or longer than the address.
    public init?(containing address: IPAddress, prefixLength: Int) {
        guard 0...address.bitWidth ~= prefixLength else { return nil }
        self.address = address.masked(to: prefixLength)
        self.prefixLength = prefixLength
    }

    /// Parses a block, such as `10.0.0.0/8`, or a single address.
    /// - Throws: `.invalidAddress` if the text is neither, contains a scope, or sets bits after the prefix.
    public init(_ text: String) throws(DiscoveryError) {
        func broken(_ rule: String) -> DiscoveryError {
            DiscoveryError(.invalidAddress, "\(text.quotedForMessage): \(rule)")
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.contains("%"), let address = IPAddress(String(first)) else {
            throw broken("a block of addresses is written as 10.0.0.0/8 or fd00::/8")
        }
        var length = address.bitWidth
        if parts.count == 2 {
            guard let number = Self.number(parts[1]), number <= length else {
                throw broken("after the / comes a number from 0 to \(length)")
            }
            length = number
        }
        let start = address.masked(to: length)
        guard start == address else {
            throw broken("bits are set after the prefix; the block is \(start)/\(length)")
        }
        self.address = address
        self.prefixLength = length
    }

    /// Returns whether an address is in the block; its scope is ignored.
    public func contains(_ address: IPAddress) -> Bool {
        address.family == self.address.family && address.masked(to: prefixLength) == self.address
    }

    /// Parses digits only; `Int(_:)` also accepts a sign.
    private static func number(_ text: Substring) -> Int? {
        guard 1...3 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }
}

extension CIDR: CustomStringConvertible {
    /// The block in CIDR notation, such as `10.0.0.0/8`.
    public var description: String { "\(address)/\(prefixLength)" }
}

extension IPAddress {
    /// 32 for IPv4, 128 for IPv6.
    package var bitWidth: Int { family == .ipv4 ? 32 : 128 }

    /// The address with all bits after the prefix cleared, and without its scope.
    package func masked(to length: Int) -> IPAddress {
        switch self {
        case .v4(let address): .v4(IPv4Address(bits: address.bits & ~Self.tail32(length)))
        case .v6(let address, _):
            .v6(
                IPv6Address(
                    high: address.high & ~Self.tail64(length), low: address.low & ~Self.tail64(length - 64)),
                scope: 0)
        }
    }

    /// Returns the number of leading bits that two addresses share; 0 if their families differ.
    package func commonPrefixLength(with other: IPAddress) -> Int {
        switch (self, other) {
        case (.v4(let one), .v4(let other)): return (one.bits ^ other.bits).leadingZeroBitCount
        case (.v6(let one, _), .v6(let other, _)):
            let high = (one.high ^ other.high).leadingZeroBitCount
            return high < 64 ? high : 64 + (one.low ^ other.low).leadingZeroBitCount
        default: return 0
        }
    }

    /// Swift's `>>` of a fixed-width integer gives 0 for an amount beyond its width.
    private static func tail32(_ length: Int) -> UInt32 { UInt32.max >> UInt32(max(0, length)) }
    private static func tail64(_ length: Int) -> UInt64 { UInt64.max >> UInt64(max(0, length)) }
}
