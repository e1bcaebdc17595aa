/// Turns canvases into what a terminal understands: only the rows that changed, cut to the terminal's size.
package struct Renderer: Sendable {
    /// What the terminal can show.
    package struct Ability: Hashable, Sendable {
        package var hasColour: Bool
        /// Else what is not ASCII becomes a question mark.
        package var hasUnicode: Bool

        package init(hasColour: Bool, hasUnicode: Bool) {
            self.hasColour = hasColour
            self.hasUnicode = hasUnicode
        }
    }

    private let ability: Ability
    private var shown: [[Canvas.Cell]] = []
    private var size = (rows: 0, columns: 0)

    package init(_ ability: Ability) { self.ability = ability }

    /// The bytes that make the terminal show `canvas`; `anew` also what should be there already.
    package mutating func draw(_ canvas: Canvas, rows: Int, columns: Int, anew: Bool = false) -> [UInt8] {
        var output = ""
        if anew || shown.isEmpty || size != (rows, columns) {
            output += "\u{1B}[0m\u{1B}[2J"
            shown = []
            size = (rows, columns)
        }
        for (index, row) in canvas.rows.enumerated() where index < rows {
            if shown.indices.contains(index), shown[index] == row { continue }
            output += "\u{1B}[\(index + 1);1H" + line(row.prefix(max(columns, 0)))
            // Not after the last column: the cursor is on it still, and it would be erased.
            if columns > Canvas.width { output += "\u{1B}[K" }
        }
        shown = canvas.rows
        return Array(output.utf8)
    }

    private func line(_ cells: ArraySlice<Canvas.Cell>) -> String {
        var text = ""
        var style = Style.plain
        for (index, cell) in cells.enumerated() {
            guard let character = cell.character else { continue }
            if cell.style != style {
                style = cell.style
                text += sequence(style)
            }
            let isCut = character.columns == 2 && index + 1 == cells.count
            text.append(isCut ? " " : ability.hasUnicode || character.isASCII ? character : "?")
            // A wide one has two columns, whatever is shown there.
            if !ability.hasUnicode && character.columns == 2 { text.append(" ") }
        }
        return style == .plain ? text : text + sequence(.plain)
    }

    private func sequence(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isReverse { codes.append("7") }
        if ability.hasColour, let colour = style.colour { codes.append(String(colour.rawValue)) }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}
