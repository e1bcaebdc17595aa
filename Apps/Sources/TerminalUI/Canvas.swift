import CommandText
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

/// A screen, drawn into as a value.
public struct Canvas: Hashable, Sendable {
    /// Columns and rows.
    public let size: ScreenSize

    /// One column; the further columns of a wide character have no character.
    struct Cell: Hashable, Sendable {
        var character: Character?
        var style: Style
    }

    private(set) var rows: [[Cell]]

    /// An empty screen.
    public init(_ size: ScreenSize = .standard) {
        self.size = size
        let row = [Cell](repeating: Cell(character: " ", style: .plain), count: size.columns)
        rows = Array(repeating: row, count: size.rows)
    }

    /// Writes text, made safe for a terminal; what does not fit on the row, or in `limit` columns, is cut, and ends with `…`.
    public mutating func put(_ text: String, row: Int, column: Int, _ style: Style = .plain, limit: Int = .max) {
        guard rows.indices.contains(row), column >= 0, column < size.columns else { return }
        var column = column
        for character in text.oneLine.fitted(to: min(limit, size.columns - column)) {
            let width = character.columns
            guard column + width <= size.columns else { break }
            rows[row][column] = Cell(character: character, style: style)
            for next in column + 1..<column + width { rows[row][next] = Cell(character: nil, style: style) }
            column += width
        }
    }

    /// Writes text on several rows, broken at spaces where possible; what does not fit ends with `…`.
    public mutating func put(_ text: String, rows: Range<Int>, column: Int, _ style: Style = .plain) {
        guard column < size.columns else { return }
        let lines = text.oneLine.wrapped(columns: size.columns - column, rows: rows.count)
        for (row, line) in zip(rows, lines) { put(line, row: row, column: column, style) }
    }

    /// Says that there is not enough room.
    mutating func putTooSmall(_ minimum: ScreenSize) {
        put("\(size) is too small: \(minimum) is needed.", rows: 0..<size.rows, column: 0)
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

extension String {
    /// Lines of so many columns, broken at spaces where possible; the last of `rows` ends with `…` when there is more.
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
            // Not in a word, unless it is longer than half a line.
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
    /// How many columns a terminal gives it; a mark that stands alone has one.
    var columns: Int { max(1, DisplayWidth.of(String(self))) }
}
