/// Splits a stream of bytes into lines of bounded length.
public struct LineSplitter: Sendable {
    /// The longest line in bytes; a service with the largest TXT record and all its endpoints stays far below.
    public static let maximumLength = 1024 * 1024

    private var pending: [UInt8] = []

    /// Creates a splitter.
    public init() {}

    /// Consumes bytes.
    /// - Returns: the complete lines, without their ends; nil if a line is too long.
    public mutating func received(_ bytes: [UInt8]) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            lines.append(pending + bytes[start..<end])
            pending = []
            start = end + 1
        }
        pending.append(contentsOf: bytes[start...])
        return pending.count <= Self.maximumLength ? lines : nil
    }
}
