#if Commands
internal import CommandFrame
internal import CommandText

/// Services as a table: on a terminal, one line each under a header, fitted to its width; in a pipe, all fields in full, separated by tabs.
/// For use by one task.
final class Table {
    /// A column for each field; nil for fields shown only in a pipe.
    private let columns: [ColumnLayout.Column?]
    private var isHeaderShown = false

    init(_ columns: [ColumnLayout.Column?]) { self.columns = columns }

    /// Writes a line.
    /// - Parameters:
    ///   - fields: safe for a terminal, one for each column.
    ///   - colour: of the first field.
    func show(_ fields: [String], colour: Colour? = nil, in session: Session) throws {
        let terminal = session.terminal
        guard terminal.isInteractive else { return try session.output.line(fields.joined(separator: "\t")) }
        // Asked every time, because a terminal can be resized.
        let layout = ColumnLayout(columns.compactMap(\.self), in: terminal.columns)
        if !isHeaderShown {
            isHeaderShown = true
            try session.output.line(layout.header(isUTF8: terminal.isUTF8))
        }
        var cells = layout.cells(zip(columns, fields).filter { $0.0 != nil }.map(\.1), isUTF8: terminal.isUTF8)
        if let colour, let first = cells.first { cells[0] = terminal.paint(first, colour) }
        try session.output.line(cells.joined(separator: " "))
    }
}
#endif
