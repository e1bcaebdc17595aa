/// The six digits by which two people see that nobody is between their machines.
///
/// Each side draws a random number and commits to it before it sees the other's: the code follows from both numbers and both keys, so one
/// in the middle, who has a key of his own towards each side, can choose neither code. That both are equal has a probability of 10⁻⁶ for each
/// attempt.
public struct PairingCode: Hashable, Sendable, CustomStringConvertible {
    /// The length of a side's random number in bytes.
    public static let nonceLength = 32
    /// How many codes there are.
    static let count: UInt64 = 1_000_000

    /// What each side puts into the code.
    public struct Side: Hashable, Sendable {
        /// Its key, as the finished handshake shows it.
        public var key: KeyFingerprint
        /// Its random number.
        public var nonce: [UInt8]

        /// Creates a side.
        public init(key: KeyFingerprint, nonce: [UInt8]) {
            self.key = key
            self.nonce = nonce
        }
    }

    private let value: UInt64

    /// - Parameters:
    ///   - caller: who dialled.
    ///   - answerer: who was dialled.
    ///   - digest: SHA-256.
    public init(caller: Side, answerer: Side, digest: ([UInt8]) -> [UInt8]) {
        let bytes = digest(
            Array("discoverd pairing code 1\n".utf8) + caller.key.bytes + answerer.key.bytes + caller.nonce
                + answerer.nonce)
        // 64 bits: the remainder favours no code by more than 10⁻¹³.
        value = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % Self.count
    }

    /// What a side sends before it sees the other's number.
    public static func commitment(to side: Side, digest: ([UInt8]) -> [UInt8]) -> [UInt8] {
        digest(Array("discoverd pairing commitment 1\n".utf8) + side.key.bytes + side.nonce)
    }

    /// `123 456`.
    public var description: String {
        let digits = String(value)
        let padded = String(repeating: "0", count: 6 - digits.count) + digits
        return "\(padded.prefix(3)) \(padded.suffix(3))"
    }
}
