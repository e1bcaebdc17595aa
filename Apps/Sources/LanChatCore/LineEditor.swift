/// An input line, edited by the bytes of a terminal in raw mode.
public struct LineEditor: Sendable {
    /// The result of some bytes.
    public enum Event: Hashable, Sendable {
        /// The line has changed.
        case changed
        /// Enter.
        case line(String)
        /// Ctrl-D on an empty line, or Ctrl-C.
        case end
    }

    /// The maximum length of a line in characters.
    public static let limit = 1000
    /// The current text.
    public private(set) var text = ""
    private var pending: [UInt8] = []
    private var escape: Escape?

    private enum Escape { case begun, sequence }

    /// Creates an empty line.
    public init() {}

    /// Handles bytes from the terminal.
    public mutating func received(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            if skips(byte) { continue }
            switch byte {
            case 0x03: events.append(.end)
            case 0x04: if text.isEmpty { events.append(.end) }
            case 0x0A, 0x0D:
                events.append(.line(text))
                text = ""
            case 0x08, 0x7F: if text.popLast() != nil { events.append(.changed) }
            case 0x15:
                text = ""
                events.append(.changed)
            case 0x17:
                while text.last == " " { text.removeLast() }
                while let last = text.last, last != " " { text.removeLast() }
                events.append(.changed)
            case 0x1B: escape = .begun
            case 0x00..<0x20: continue
            default: if append(byte) { events.append(.changed) }
            }
        }
        return events
    }

    /// Skips cursor keys and the like: `ESC [ … letter`, `ESC O letter`, `ESC letter`.
    private mutating func skips(_ byte: UInt8) -> Bool {
        switch escape {
        case nil: return false
        case .begun: escape = byte == 0x5B || byte == 0x4F ? .sequence : nil
        case .sequence: if (0x40...0x7E).contains(byte) { escape = nil }
        }
        return true
    }

    /// Appends a byte; UTF-8 arrives byte by byte.
    private mutating func append(_ byte: UInt8) -> Bool {
        if byte < 0x80 || byte >= 0xC0 { pending = [] }
        pending.append(byte)
        guard pending.count <= 4, text.count < Self.limit else {
            pending = []
            return false
        }
        guard let character = String(validating: pending, as: UTF8.self) else { return false }
        pending = []
        text.append(character)
        return true
    }
}
