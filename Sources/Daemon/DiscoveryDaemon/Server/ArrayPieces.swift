internal import Discovery
internal import DiscoverySystem

/// A long text that is written in pieces of some ten kilobytes; its elements are shared, not copied.
final class ArrayPieces<Element: Sendable>: LineSource {
    private static var size: Int { 64 * 1024 }

    private struct State {
        var next = 0
        var isBegun = false
        var isOver = false
    }

    private let elements: [Element]
    private let opening: String
    private let separator: String
    private let closing: String
    private let write: @Sendable (Element, inout [UInt8]) -> Void
    private let state = Locked(State())

    /// - Parameter opening: what comes before the elements, as `[`.
    init(
        _ elements: [Element],
        opening: String,
        separator: String = ",",
        closing: String,
        write: @escaping @Sendable (Element, inout [UInt8]) -> Void
    ) {
        self.elements = elements
        self.opening = opening
        self.separator = separator
        self.closing = closing
        self.write = write
    }

    func next() async -> [UInt8]? { take() }

    private func take() -> [UInt8]? { state.withLock { Self.piece(of: self, &$0) } }

    /// All of it; nil when it is longer, which the first piece tells, about.
    func whole(atMost limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let piece = take() {
            bytes += piece
            let written = state.withLock { $0.next }
            guard bytes.count <= limit, bytes.count / max(written, 1) * elements.count <= limit else { return nil }
        }
        return bytes
    }

    private static func piece(of array: ArrayPieces, _ state: inout State) -> [UInt8]? {
        guard !state.isOver else { return nil }
        var bytes: [UInt8] = []
        if !state.isBegun { bytes += array.opening.utf8 }
        state.isBegun = true
        while state.next < array.elements.count, bytes.count < size {
            if state.next > 0 { bytes += array.separator.utf8 }
            array.write(array.elements[state.next], &bytes)
            state.next += 1
        }
        if state.next == array.elements.count {
            bytes += array.closing.utf8
            state.isOver = true
        }
        return bytes
    }
}

/// Bytes that exist already, in pieces: only one of them waits for the client.
final class BytePieces: LineSource {
    private static let size = 64 * 1024

    private let bytes: [UInt8]
    private let position = Locked(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func next() async -> [UInt8]? {
        let start = position.withLock { position in
            defer { position += Self.size }
            return position
        }
        return start < bytes.count ? Array(bytes[start..<min(start + Self.size, bytes.count)]) : nil
    }

    /// With its length when it is short.
    static func answer(_ bytes: [UInt8], type: String) -> ControlAnswer {
        guard bytes.count > size else { return .whole(status: 200, type: type, body: bytes) }
        return .pieces(status: 200, type: type, BytePieces(bytes))
    }
}
