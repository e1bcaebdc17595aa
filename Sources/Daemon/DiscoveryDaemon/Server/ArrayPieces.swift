internal import Discovery
internal import DiscoverySystem

/// A long text that is written in pieces of some ten kilobytes; its elements are shared, not copied.
struct ArrayPieces<Element: Sendable>: LineSource {
    private static var size: Int { 64 * 1024 }

    private struct State {
        var next = 0
        var isBegun = false
        var isOver = false
    }

    let elements: [Element]
    /// What comes before the elements, as `[`.
    let opening: String
    var separator = ","
    let closing: String
    let write: @Sendable (Element, inout [UInt8]) -> Void
    /// How far it is, whoever has a copy.
    private let state = Locked(State())

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

extension ControlAnswer {
    /// Bytes that exist already: with their length when they are short, else in pieces, of which only one waits for the client.
    static func bytes(_ bytes: [UInt8], type: String) -> ControlAnswer {
        let size = 64 * 1024
        guard bytes.count > size else { return .whole(status: 200, type: type, body: bytes) }
        let starts = Array(stride(from: 0, to: bytes.count, by: size))
        let pieces = ArrayPieces(elements: starts, opening: "", separator: "", closing: "") { start, piece in
            piece += bytes[start..<min(start + size, bytes.count)]
        }
        return .pieces(status: 200, type: type, pieces)
    }
}
