import DNSSD

/// The look of text. Without colour only bold and reverse remain, so colour alone must never carry meaning.
public struct Style: Hashable, Sendable {
    /// The colours that every colour terminal has.
    public enum Colour: Int, Hashable, Sendable {
        /// SGR 31 of ECMA-48.
        case red = 31
        /// SGR 32.
        case green = 32
        /// SGR 33.
        case yellow = 33
        /// SGR 36.
        case cyan = 36
    }

    var colour: Colour?
    var isBold = false
    var isReverse = false
    var isDim = false

    /// Creates a style.
    public init(_ colour: Colour? = nil, bold: Bool = false, reverse: Bool = false, dim: Bool = false) {
        self.colour = colour
        isBold = bold
        isReverse = reverse
        isDim = dim
    }

    /// The terminal's default.
    public static let plain = Style()
}

/// The size of a terminal, in columns and rows.
public struct ScreenSize: Hashable, Sendable, CustomStringConvertible {
    /// A terminal may claim up to 65535 of each (`struct winsize` of <sys/ioctl.h>); a larger screen than this is of no use.
    private static let maximumColumns = 500
    private static let maximumRows = 200

    /// At least 1.
    public let columns: Int
    /// At least 1.
    public let rows: Int

    /// Creates a size; each value is limited to 1...500 columns and 1...200 rows.
    public init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.maximumColumns)
        self.rows = min(max(rows, 1), Self.maximumRows)
    }

    /// The size assumed for a terminal that does not report its own.
    public static let standard = ScreenSize(columns: 80, rows: 24)

    /// `80×24`.
    public var description: String { "\(columns)×\(rows)" }

    /// Whether `other` fits into this size.
    public func fits(_ other: ScreenSize) -> Bool { columns >= other.columns && rows >= other.rows }
}

/// A screen to draw into. A value.
public struct Canvas: Hashable, Sendable {
    /// Columns and rows.
    public let size: ScreenSize

    /// One column; the further columns of a wide character are empty.
    struct Cell: Hashable, Sendable {
        var character: Character?
        var style: Style
    }

    private(set) var rows: [[Cell]]

    /// Creates an empty screen.
    public init(_ size: ScreenSize = .standard) {
        self.size = size
        let row = [Cell](repeating: Cell(character: " ", style: .plain), count: size.columns)
        rows = Array(repeating: row, count: size.rows)
    }

    /// Writes text, escaped for a terminal. Text that exceeds the row, or `limit` columns, is cut and ends with `…`.
    public mutating func put(_ text: String, row: Int, column: Int, _ style: Style = .plain, limit: Int = .max) {
        put(safe: text.oneLine, row: row, column: column, style, limit: limit)
    }

    /// Writes text that is safe for a terminal already, as `escapedForTerminal` makes it; its columns stay as they were counted.
    public mutating func put(
        safe text: String, row: Int, column: Int, _ style: Style = .plain, limit: Int = .max
    ) {
        guard rows.indices.contains(row), column >= 0, column < size.columns else { return }
        var column = column
        for character in text.fitted(to: min(limit, size.columns - column)) {
            let width = character.columns
            guard column + width <= size.columns else { break }
            rows[row][column] = Cell(character: character, style: style)
            for next in column + 1..<column + width { rows[row][next] = Cell(character: nil, style: style) }
            column += width
        }
    }

    /// Writes text on several rows, broken at spaces where possible; text that does not fit ends with `…`.
    public mutating func put(_ text: String, rows: Range<Int>, column: Int, _ style: Style = .plain) {
        put(paragraphs: [text], rows: rows, column: column, style)
    }

    /// Writes paragraphs below each other, each on as many rows as it needs; the one that does not fit ends with `…`.
    public mutating func put(paragraphs: [String], rows: Range<Int>, column: Int, _ style: Style = .plain) {
        guard column < size.columns else { return }
        var row = rows.lowerBound
        for text in paragraphs {
            let lines = text.oneLine.wrapped(columns: size.columns - column, rows: rows.upperBound - row)
            for line in lines {
                put(line, row: row, column: column, style)
                row += 1
            }
        }
    }

    /// Draws the message that there is not enough room.
    public mutating func putTooSmall(_ minimum: ScreenSize) {
        put("\(size) is too small: \(minimum) is needed.", rows: 0..<size.rows, column: 0)
    }

    /// The text without styles, one line per row, without surrounding spaces.
    public var text: [String] {
        rows.map { row in
            String(row.compactMap(\.character).reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension String {
    /// Lines of at most `columns` columns, broken at spaces where possible; if text remains, the last of `rows` ends with `…`.
    func wrapped(columns: Int, rows: Int) -> [String] {
        var lines: [String] = []
        var rest = self[...]
        while !rest.isEmpty, lines.count < rows {
            guard lines.count < rows - 1, rest.reduce(0, { $0 + $1.columns }) > columns else {
                lines.append(String(rest).fitted(to: columns))
                break
            }
            var room = columns
            let beginning = rest.prefix { character in
                room -= character.columns
                return room >= 0
            }
            // Do not break within a word, unless it is longer than half a line.
            let half = beginning.index(beginning.startIndex, offsetBy: beginning.count / 2)
            let isEndOfWord = rest[beginning.endIndex...].first == " "
            let end = isEndOfWord ? beginning.endIndex : beginning[half...].lastIndex(of: " ") ?? beginning.endIndex
            lines.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
            if end == beginning.startIndex { break }
        }
        return lines
    }
}

extension Character {
    /// The columns that a terminal gives it; a lone combining mark takes one.
    var columns: Int { isASCII ? 1 : max(1, DisplayWidth.of(String(self))) }
}

/// Renders canvases as terminal output, sending only the rows that changed.
public struct Renderer: Sendable {
    /// What the terminal can show.
    public struct Ability: Hashable, Sendable {
        /// Colours are shown.
        public var hasColour: Bool
        /// If false, lines and blocks become ASCII characters, and other non-ASCII characters become question marks.
        public var hasUnicode: Bool

        /// Creates a value.
        public init(hasColour: Bool, hasUnicode: Bool) {
            self.hasColour = hasColour
            self.hasUnicode = hasUnicode
        }
    }

    private let ability: Ability
    private var shown: [[Canvas.Cell]] = []
    private var size: ScreenSize?

    /// Creates a renderer that has shown nothing.
    public init(_ ability: Ability) { self.ability = ability }

    /// The bytes that make the terminal show `canvas`; with `anew`, including the parts that should be there already.
    public mutating func draw(_ canvas: Canvas, anew: Bool = false) -> [UInt8] {
        var output = ""
        if anew || size != canvas.size {
            output += "\u{1B}[0m\u{1B}[2J"
            shown = []
            size = canvas.size
        }
        for (index, row) in canvas.rows.enumerated() {
            if shown.indices.contains(index), shown[index] == row { continue }
            output += "\u{1B}[\(index + 1);1H" + line(row)
        }
        shown = canvas.rows
        return Array(output.utf8)
    }

    private func line(_ cells: [Canvas.Cell]) -> String {
        var text = ""
        var style = Style.plain
        for cell in cells {
            guard let character = cell.character else { continue }
            if cell.style != style {
                style = cell.style
                text += sequence(style)
            }
            text.append(ability.hasUnicode || character.isASCII ? character : Self.substitutes[character] ?? "?")
            // Keeps the character's width, whatever is shown in its place.
            if !ability.hasUnicode { text += String(repeating: " ", count: character.columns - 1) }
        }
        return style == .plain ? text : text + sequence(.plain)
    }

    /// The ASCII equivalents of drawing characters.
    private static let substitutes: [Character: Character] = [
        "─": "-", "│": "|", "┌": "+", "┬": "+", "┐": "+", "├": "+", "┼": "+", "┤": "+", "└": "+", "┴": "+", "┘": "+",
        "█": "#", "░": ".", "▼": "v", "…": ".", "×": "x",
    ]

    private func sequence(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isReverse { codes.append("7") }
        if ability.hasColour, let colour = style.colour { codes.append(String(colour.rawValue)) }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}
