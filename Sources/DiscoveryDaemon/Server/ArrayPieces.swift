internal import Discovery
internal import DiscoveryJSON

/// A JSON array that is written in pieces of some ten kilobytes: what it is made of is shared with who keeps it.
final class ArrayPieces<Element: Sendable>: LineSource {
    private static var size: Int { 64 * 1024 }

    private struct State {
        var next = 0
        var isBegun = false
        var isOver = false
    }

    private let elements: [Element]
    private let opening: String
    private let closing: String
    private let write: @Sendable (Element, inout JSONWriter) -> Void
    private let state = Locked(State())

    /// - Parameter opening: what comes before the elements, as `[`.
    init(
        _ elements: [Element],
        opening: String,
        closing: String,
        write: @escaping @Sendable (Element, inout JSONWriter) -> Void
    ) {
        self.elements = elements
        self.opening = opening
        self.closing = closing
        self.write = write
    }

    func next() async -> [UInt8]? { state.withLock { Self.piece(of: self, &$0) } }

    private static func piece(of array: ArrayPieces, _ state: inout State) -> [UInt8]? {
        guard !state.isOver else { return nil }
        var bytes: [UInt8] = []
        if !state.isBegun { bytes += array.opening.utf8 }
        state.isBegun = true
        while state.next < array.elements.count, bytes.count < size {
            if state.next > 0 { bytes.append(UInt8(ascii: ",")) }
            var writer = JSONWriter()
            array.write(array.elements[state.next], &writer)
            bytes += writer.bytes
            state.next += 1
        }
        if state.next == array.elements.count {
            bytes += array.closing.utf8
            state.isOver = true
        }
        return bytes
    }

    /// All of it at once when it is one piece, so that its length is told; else piece by piece.
    func answer() async -> ControlAnswer {
        guard let first = await next() else { return .nothing }
        let isWhole = state.withLock { $0.isOver }
        if isWhole { return .whole(status: 200, type: "application/json", body: first) }
        return .pieces(status: 200, type: "application/json", Rest(first: first, rest: self))
    }

    private final class Rest: LineSource {
        private let first: Locked<[UInt8]?>
        private let rest: ArrayPieces

        init(first: [UInt8], rest: ArrayPieces) {
            self.first = Locked(first)
            self.rest = rest
        }

        func next() async -> [UInt8]? {
            let first = first.withLock { first in
                defer { first = nil }
                return first
            }
            if let first { return first }
            return await rest.next()
        }
    }
}
