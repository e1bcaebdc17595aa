/// Cuts a stream of bytes into lines, bounded in length. What is too long is skipped up to its end, and counted once.
public struct LineFraming: Sendable {
    /// What was cut off the stream.
    public enum Line: Hashable, Sendable {
        /// A line without its end (LF or CR LF, or the other end bytes).
        case line([UInt8])
        /// A line of more than `limit` bytes was skipped.
        case tooLong
    }

    /// The longest line in bytes.
    public let limit: Int
    private let ends: Set<UInt8>
    private var pending: [UInt8] = []
    private var isSkipping = false

    /// - Parameter ends: the bytes that end a line.
    public init(limit: Int, ends: Set<UInt8> = [0x0A]) {
        self.limit = limit
        self.ends = ends
    }

    /// Takes in bytes.
    /// - Returns: the lines that are complete.
    public mutating func received(_ bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            if ends.contains(byte) {
                if !isSkipping { lines.append(.line(take())) }
                isSkipping = false
            } else if !isSkipping {
                // One more for the CR of CR LF, which does not count.
                if pending.count > limit || (pending.count == limit && byte != 0x0D) {
                    isSkipping = true
                    pending = []
                    lines.append(.tooLong)
                } else {
                    pending.append(byte)
                }
            }
        }
        return lines
    }

    /// The stream ended.
    /// - Returns: what was left without an end.
    public mutating func ended() -> [UInt8]? {
        defer { isSkipping = false }
        return pending.isEmpty ? nil : take()
    }

    private mutating func take() -> [UInt8] {
        defer { pending = [] }
        if pending.last == 0x0D { pending.removeLast() }
        return pending
    }
}
