/// Splits a byte stream into lines of limited length. A line that is too long is skipped to its end and reported once.
public struct LineFraming: Sendable {
    /// A piece of the stream.
    public enum Line: Hashable, Sendable {
        /// A line without its terminator (LF, CR LF, or the other terminators).
        case line([UInt8])
        /// A line of more than `limit` bytes, which was skipped.
        case tooLong
    }

    /// The maximum length of a line in bytes.
    public let limit: Int
    private let isEnd: [Bool]
    private var pending: [UInt8] = []
    private var isSkipping = false

    /// - Parameter ends: the bytes that terminate a line.
    public init(limit: Int, ends: Set<UInt8> = [0x0A]) {
        self.limit = limit
        isEnd = (UInt8.min...UInt8.max).map { ends.contains($0) }
    }

    /// Takes bytes from the stream.
    /// - Returns: the lines that are now complete.
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

    /// - Returns: whether the line is still short enough; if not, its bytes are dropped.
    private mutating func add(_ bytes: ArraySlice<UInt8>) -> Bool {
        let count = pending.count + bytes.count
        // The CR of CR LF does not count.
        let isFit = count <= limit || (count == limit + 1 && (bytes.last ?? pending.last) == 0x0D)
        if isFit { pending.append(contentsOf: bytes) } else { pending = [] }
        return isFit
    }

    /// Call at the end of the stream.
    /// - Returns: the rest, which had no terminator.
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
