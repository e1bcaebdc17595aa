import DNSSD

/// How text looks. Without colour only bold and reverse are left, so nothing may be told by colour alone.
public struct Style: Hashable, Sendable {
    /// The colours that every terminal with colours has.
    public enum Colour: Int, Hashable, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
    }

    var colour: Colour?
    var isBold = false
    var isReverse = false

    /// Creates a style.
    public init(_ colour: Colour? = nil, bold: Bool = false, reverse: Bool = false) {
        self.colour = colour
        isBold = bold
        isReverse = reverse
    }

    /// As the terminal writes.
    public static let plain = Style()
}

/// A screen of 80 columns and 24 rows, drawn into as a value.
public struct Canvas: Hashable, Sendable {
    /// Columns.
    public static let width = 80
    /// Rows.
    public static let height = 24

    /// One column; the second column of a wide character has no character.
    struct Cell: Hashable, Sendable {
        var character: Character?
        var style: Style
    }

    private(set) var rows: [[Cell]]

    /// An empty screen.
    public init() {
        let row = [Cell](repeating: Cell(character: " ", style: .plain), count: Self.width)
        rows = Array(repeating: row, count: Self.height)
    }

    /// Writes text, made safe for a terminal; what does not fit on the row is cut.
    public mutating func put(_ text: String, row: Int, column: Int, _ style: Style = .plain) {
        guard rows.indices.contains(row), column >= 0 else { return }
        var column = column
        for character in text.oneLine {
            let width = character.columns
            guard column + width <= Self.width else { return }
            rows[row][column] = Cell(character: character, style: style)
            if width == 2 { rows[row][column + 1] = Cell(character: nil, style: style) }
            column += width
        }
    }

    /// The text without styles, one line a row, without spaces at the ends.
    package var text: [String] {
        rows.map { row in
            let line = String(row.compactMap(\.character))
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension String {
    /// Safe for a terminal, also where the text was escaped before.
    var oneLine: String {
        needsTerminalEscaping ? unicodeScalars.map { String($0).escapedForTerminal }.joined() : self
    }
}

extension Character {
    /// How many columns a terminal gives it: two for the wide characters of East Asia and for emoji, as wcwidth(3) says.
    var columns: Int {
        guard let scalar = unicodeScalars.first, !isASCII else { return 1 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }
}
