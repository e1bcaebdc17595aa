/// Who takes part in sessions: a number that each session draws for itself, so that two of one name are two.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Any number.
    public let rawValue: UInt64

    /// Takes a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A new one: 64 random bits.
    public static func random() -> PeerID { PeerID(rawValue: .random(in: .min ... .max)) }

    /// From 16 hexadecimal digits; nil for anything else.
    public init?(_ text: String) {
        guard let value = UInt64(hexadecimal: text) else { return nil }
        rawValue = value
    }

    /// 16 hexadecimal digits.
    public var description: String { rawValue.hexadecimal }

    /// By number.
    public static func < (one: PeerID, other: PeerID) -> Bool { one.rawValue < other.rawValue }
}
