/// A TCP or UDP port that can be connected to: 1 to 65535.
public struct Port: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1 to 65535.
    public let rawValue: UInt16

    /// Nil for 0: an SRV record with port 0 holds a name without offering a service (RFC 6763 §8).
    public init?(rawValue: UInt16) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// - Throws: `.invalidPort` unless `number` is in 1 to 65535.
    public init(_ number: Int) throws(DiscoveryError) {
        guard let raw = UInt16(exactly: number), raw != 0 else {
            throw DiscoveryError(.invalidPort, "port \(number) is not in 1 to 65535")
        }
        self.rawValue = raw
    }

    /// By number.
    public static func < (one: Port, other: Port) -> Bool { one.rawValue < other.rawValue }

    /// Decimal.
    public var description: String { String(rawValue) }
}
