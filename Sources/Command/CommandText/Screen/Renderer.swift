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
