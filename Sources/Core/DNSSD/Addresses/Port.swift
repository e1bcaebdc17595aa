/// A TCP or UDP port that can be connected to: 1 to 65535.
public struct Port: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number: 1 to 65535.
    public let rawValue: UInt16

    /// Creates a port; nil for 0, with which an SRV record holds a name without offering a service (RFC 6763 §8).
    public init?(rawValue: UInt16) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a port from a number.
    /// - Throws: `.invalidPort` unless `number` is in 1 to 65535.
    public init(_ number: Int) throws(DiscoveryError) {
        guard let raw = UInt16(exactly: number), raw != 0 else {
            throw DiscoveryError(.invalidPort, "port \(number) is not in 1 to 65535")
        }
        self.rawValue = raw
    }

    /// Orders by number.
    public static func < (one: Port, other: Port) -> Bool { one.rawValue < other.rawValue }

    /// The number in decimal.
    public var description: String { String(rawValue) }
}
