/// Identifies a participant: each session draws a random number, so that two of the same name are distinct.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Any number.
    public let rawValue: UInt64

    /// Uses a given number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Draws 64 random bits.
    public static func random() -> PeerID { PeerID(rawValue: .random(in: .min ... .max)) }

    /// Parses exactly 16 hexadecimal digits; nil for anything else.
    public init?(_ text: String) {
        guard let value = UInt64(hexadecimal: text) else { return nil }
        rawValue = value
    }

    /// 16 hexadecimal digits.
    public var description: String { rawValue.hexadecimal }

    /// Orders by number.
    public static func < (one: PeerID, other: PeerID) -> Bool { one.rawValue < other.rawValue }
}
