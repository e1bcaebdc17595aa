/// Marks everything that comes from one place on a sender's disk, so that a later transfer finds what an earlier one made.
///
/// Looks random to everyone but the sender, and reveals nothing about the place.
public struct Origin: Hashable, Sendable {
    /// The length of an origin in bytes.
    public static let length = 16

    /// The origin's bytes.
    public let bytes: [UInt8]

    /// Creates a unique origin.
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
