/// Decodes a terminal's bytes into keys: UTF-8, cursor keys (ECMA-48 CSI, SS3), mouse reports (xterm's SGR mode) and bracketed paste.
///
/// Unknown sequences are skipped as a whole, so that their bytes are not taken for keys.
public struct KeyDecoder: Sendable {
    /// No known sequence is longer.
    private static let longestSequence = 32

    private var pending: [UInt8] = []
    /// Between the brackets of a paste, which only the closing one ends.
    private var isPasting = false

    /// Creates a decoder before the first byte.
    public init() {}

    /// Whether a key may be incomplete: an escape, which is a key or the start of a sequence.
    public var isWaiting: Bool { !pending.isEmpty && !isInBracket }

    /// Decodes bytes.
    public mutating func received(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending.append(contentsOf: bytes)
        var keys: [Key] = []
        while !pending.isEmpty {
            if let isStart = bracket() {
                pending.removeFirst(Self.pasteStart.count)
                isPasting = isStart
                continue
            }
            guard let (length, key) = isPasting ? pasted() : first() else { break }
            pending.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Call after a pause: an escape on its own is the Escape key, and a sequence that does not go on is none. What may be a bracket of a
    /// paste stays: a slow line cuts it anywhere, and what follows must not become keys.
    public mutating func paused() -> [Key] {
        if isInBracket { return [] }
        defer { pending = [] }
        return pending == [0x1B] && !isPasting ? [.escape] : []
    }

    private static let pasteStart = Array("\u{1B}[200~".utf8)
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// Whether what is pending may become a bracket: in a paste the closing one, else the opening one, of which more than the escape is there.
    private var isInBracket: Bool {
        let (bracket, least) = isPasting ? (Self.pasteEnd, 1) : (Self.pasteStart, 2)
        return pending.count >= least && bracket.starts(with: pending)
    }

    /// Whether a paste starts or ends here; nil if neither.
    private func bracket() -> Bool? {
        pending.starts(with: Self.pasteStart) ? true : isPasting && pending.starts(with: Self.pasteEnd) ? false : nil
    }

    /// What is pasted: nothing in it is a key. Controls are left out.
    private func pasted() -> (length: Int, key: Key?)? {
        guard pending[0] == 0x1B else {
            guard let (length, key) = first() else { return nil }
            guard case .character(let character) = key else { return (length, nil) }
            return (length, .pasted(character))
        }
        return Self.pasteEnd.starts(with: pending) ? nil : (1, nil)
    }

    /// The first key and its length; no key if the bytes are skipped; nil if more bytes are needed.
    private func first() -> (length: Int, key: Key?)? {
        switch pending[0] {
        case 0x1B: escape()
        case 0x0D, 0x0A: (1, .enter)
        case 0x7F, 0x08: (1, .backspace)
        case 0x00..<0x20: (1, nil)
        case let byte where byte < 0x80: (1, .character(Character(Unicode.Scalar(byte))))
        case let byte: scalar(byte)
        }
    }

    private func scalar(_ first: UInt8) -> (Int, Key?)? {
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        guard length > 1 else { return (1, nil) }
        guard pending.count >= length else { return nil }
        guard let text = String(validating: pending.prefix(length), as: UTF8.self), let character = text.first else {
            return (1, nil)
        }
        return (length, .character(character))
    }

    private func escape() -> (Int, Key?)? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case UInt8(ascii: "["): break
        case UInt8(ascii: "O"): return pending.count > 2 ? (3, Self.cursor(pending[2])) : nil
        case 0x1B: return (1, .escape)
        // Alt with a key: just the key.
        default: return (1, nil)
        }
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            return pending.count > Self.longestSequence ? (pending.count, nil) : nil
        }
        let parameters = pending[2..<end]
        let key =
            parameters.isEmpty
            ? Self.cursor(pending[end])
            : pending[end] == UInt8(ascii: "~") ? Self.numbered(parameters) : Self.mouse(parameters, pending[end])
        return (end + 1, key)
    }

    private static func cursor(_ final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "H"): .home
        default: nil
        }
    }

    /// The keys with a number (xterm, and rxvt's 7 and 8).
    private static func numbered(_ parameters: ArraySlice<UInt8>) -> Key? {
        switch String(decoding: parameters, as: UTF8.self) {
        case "1", "7": .home
        case "4", "8": .end
        case "5": .pageUp
        case "6": .pageDown
        default: nil
        }
    }

    /// `<BUTTON;COLUMN;ROW`, with `M` for down and `m` for up; the left button is 0.
    private static func mouse(_ parameters: ArraySlice<UInt8>, _ final: UInt8) -> Key? {
        guard parameters.first == UInt8(ascii: "<") else { return nil }
        let numbers = parameters.dropFirst().split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 3, numbers[0] == 0, let column = numbers[1], let row = numbers[2],
            (1...9999).contains(column), (1...9999).contains(row)
        else { return nil }
        switch final {
        case UInt8(ascii: "M"): return .pressed(column: column - 1, row: row - 1)
        case UInt8(ascii: "m"): return .released(column: column - 1, row: row - 1)
        default: return nil
        }
    }
}

/// A person's action at a terminal.
public enum Key: Hashable, Sendable {
    /// A character was typed.
    case character(Character)
    /// An arrow.
    case up
    /// An arrow.
    case down
    /// An arrow.
    case left
    /// An arrow.
    case right
    /// One screen up.
    case pageUp
    /// One screen down.
    case pageDown
    /// To the beginning.
    case home
    /// To the end.
    case end
    /// The end of a line of input.
    case enter
    /// Escape on its own, without a sequence after it.
    case escape
    /// Deletes the character before the cursor.
    case backspace
    /// A character was pasted.
    case pasted(Character)
    /// A mouse button went down; columns and rows count from 0.
    case pressed(column: Int, row: Int)
    /// A mouse button went up.
    case released(column: Int, row: Int)
}

/// An event from standard input.
public enum TerminalEvent: Hashable, Sendable {
    /// From a terminal in raw mode.
    case key(Key)
    /// A line, if there is no terminal; without its terminator, cut to 4096 bytes.
    case line(String)
    /// The screen was resized, or used by another program: redraw it completely.
    case redraw
    /// No more input will come. Reported every time from then on.
    case ended
}
