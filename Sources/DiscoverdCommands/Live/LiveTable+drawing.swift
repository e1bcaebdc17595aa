#if Commands
internal import CommandText
internal import DNSSD

extension LiveTable {
    /// A title, headings, one service, a line of keys.
    static let minimumSize = ScreenSize(columns: 16, rows: 4)

    /// The screen. What it holds of the network is safe for a terminal.
    mutating func canvas(_ size: ScreenSize) -> Canvas {
        var canvas = Canvas(size)
        guard size.fits(Self.minimumSize) else {
            canvas.putTooSmall(Self.minimumSize)
            return canvas
        }
        let body = 1..<size.rows - (message == nil ? 1 : 2)
        canvas.put(safe: title, row: 0, column: 0, Style(bold: true))
        if let message { canvas.put(message, row: body.upperBound, column: 0, Style(.yellow)) }
        if case .details(_, let first) = mode {
            drawDetails(on: &canvas, body, from: first)
        } else {
            drawList(on: &canvas, body)
        }
        drawKeys(on: &canvas, row: size.rows - 1)
        return canvas
    }

    /// `_http._tcp: 12 services, 1 gone; 3 match`
    private var title: String {
        var text = "\(look.title): \(list.count) service\(list.count == 1 ? "" : "s")"
        if list.goneCount > 0 { text += ", \(list.goneCount) gone" }
        if !list.filter.isEmpty { text += "; \(list.shownCount) match" }
        return isSettled ? text : text + " so far"
    }

    private mutating func drawList(on canvas: inout Canvas, _ body: Range<Int>) {
        let layout = ColumnLayout(look.columns.compactMap(\.self), in: canvas.size.columns)
        canvas.put(safe: layout.header(isUTF8: look.isUTF8), row: body.lowerBound, column: 0)
        let rows = body.lowerBound + 1..<body.upperBound
        let selected = selectedIndex
        // Scrolled as little as possible, and no further than the end.
        var first = min(window.first, max(0, list.shownCount - rows.count))
        first = min(max(first, selected - rows.count + 1), selected)
        window = (first, max(1, rows.count))
        for (offset, line) in rows.enumerated() {
            guard let row = list[first + offset] else { break }
            draw(row, layout, on: &canvas, line, isSelected: first + offset == selected)
        }
    }

    private func draw(
        _ row: LiveList.Row, _ layout: ColumnLayout, on canvas: inout Canvas, _ line: Int, isSelected: Bool
    ) {
        let fields = [row.news?.rawValue ?? " "] + look.fields(row.service)
        let wanted = zip(look.columns, fields).filter { $0.0 != nil }.map(\.1)
        let text = layout.line(wanted, isUTF8: look.isUTF8)
        let width = isSelected ? canvas.size.columns - 1 : 0
        canvas.put(
            safe: text.padded(to: width), row: line, column: 0, Style(reverse: isSelected, dim: row.isGone))
        guard !row.isGone, let news = row.news else { return }
        let colour: Style.Colour = news == .found ? .green : .yellow
        canvas.put(safe: news.rawValue, row: line, column: 0, Style(colour, reverse: isSelected))
    }

    private mutating func drawDetails(on canvas: inout Canvas, _ body: Range<Int>, from first: Int) {
        guard let (service, isGone) = detailed else {
            return canvas.put("It is gone.", row: body.lowerBound + 1, column: 0, Style(dim: true))
        }
        let lines = look.details(service) + (isGone ? ["", "It is gone."] : [])
        // Not further than the last line.
        let start = min(first, max(0, lines.count - 1))
        if start != first { scrollDetails(to: start) }
        let shown = lines.dropFirst(start).map { $0.tamed(isUTF8: look.isUTF8) }
        canvas.put(paragraphs: Array(shown), rows: body, column: 0, Style(dim: isGone))
    }

    private func drawKeys(on canvas: inout Canvas, row: Int) {
        let text =
            switch mode {
            case .list where list.filter.isEmpty: "/ filter  Enter details  s order: \(list.order.rawValue)  q quit"
            case .list: "/ filter: \(list.filter.text)  Esc all  Enter details  q quit"
            case .filter: "/" + list.filter.text.safeTail(columns: canvas.size.columns - 3)
            case .details: "Esc back  q quit"
            }
        canvas.put(text, row: row, column: 0)
        if mode == .filter {
            let column = min(DisplayWidth.of(text), canvas.size.columns - 1)
            canvas.put(" ", row: row, column: column, Style(reverse: true))
        }
    }
}

extension String {
    /// The end that fits, safe for a terminal.
    fileprivate func safeTail(columns: Int) -> String { escapedForTerminal.tail(columns: max(1, columns)) }
}
#endif
