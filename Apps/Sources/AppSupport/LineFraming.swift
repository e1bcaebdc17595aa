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
    private let isEnd: [Bool]
    private var pending: [UInt8] = []
    private var isSkipping = false

    /// - Parameter ends: the bytes that end a line.
    public init(limit: Int, ends: Set<UInt8> = [0x0A]) {
        self.limit = limit
        isEnd = (UInt8.min...UInt8.max).map { ends.contains($0) }
    }

    /// Takes in bytes.
    /// - Returns: the lines that are complete.
    public mutating func received(_ bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = Array(bytes)[...]
        while let end = rest.firstIndex(where: { isEnd[Int($0)] }) {
            if isSkipping {
                isSkipping = false
            } else if add(rest[..<end]) {
                lines.append(.line(take()))
            } else {
                lines.append(.tooLong)
            }
            rest = rest[(end + 1)...]
        }
        if !isSkipping, !add(rest) {
            isSkipping = true
            lines.append(.tooLong)
        }
        return lines
    }

    /// - Returns: whether the line is short enough until now; else what was there is forgotten.
    private mutating func add(_ bytes: ArraySlice<UInt8>) -> Bool {
        let count = pending.count + bytes.count
        // The CR of CR LF does not count.
        let isFit = count <= limit || (count == limit + 1 && (bytes.last ?? pending.last) == 0x0D)
        if isFit { pending.append(contentsOf: bytes) } else { pending = [] }
        return isFit
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
