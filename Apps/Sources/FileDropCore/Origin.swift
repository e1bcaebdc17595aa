/// Marks what comes from one place of a sender's disk, so that a later transfer of it finds what an earlier one made.
///
/// Random to everyone but the sender: it says nothing of the place.
public struct Origin: Hashable, Sendable {
    /// Bytes of an origin.
    public static let length = 16

    /// So many bytes.
    public let bytes: [UInt8]

    /// An origin that is like no other.
    public init() {
        var random = SystemRandomNumberGenerator()
        bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Nil unless there are `length` bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }
}
