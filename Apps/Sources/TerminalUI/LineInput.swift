import AppSupport
import CommandFrame
import CommandText

/// Standard input as lines, where there is no screen.
struct LineInput: TerminalInputDecoder {
    private var lines = LineFraming(limit: 4096)

    var isWaiting: Bool { false }

    mutating func received(_ bytes: [UInt8]) -> [TerminalEvent] { lines.received(bytes).compactMap(Self.event) }

    mutating func paused() -> [TerminalEvent] { [] }

    mutating func ended() -> [TerminalEvent] {
        lines.ended().map { [.line(String(decoding: $0, as: UTF8.self))] } ?? []
    }

    /// No person types a line that is too long, but a person may type an empty one.
    private static func event(_ line: LineFraming.Line) -> TerminalEvent? {
        if case .line(let bytes) = line { .line(String(decoding: bytes, as: UTF8.self)) } else { nil }
    }
}
