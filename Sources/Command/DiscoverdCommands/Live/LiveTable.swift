#if Commands
internal import CommandText
internal import DNSSD

/// `browse --live` as a value: takes events, keys and the time; draws itself.
struct LiveTable {
    typealias Instant = ContinuousClock.Instant

    /// What a key asks for.
    enum Step: Hashable {
        case stay
        case quit
        /// The details of a service that is not resolved are to be shown.
        case resolve(ServiceInstance)
    }

    enum Mode: Hashable {
        case list
        /// The filter is being typed.
        case filter
        /// One service, from a line on.
        case details(ServiceInstance, from: Int)
    }

    /// How it looks.
    struct Look {
        let title: String
        let columns: [ColumnLayout.Column?]
        let fields: @Sendable (DiscoveredService) -> [String]
        let details: @Sendable (DiscoveredService) -> [String]
        let isUTF8: Bool
    }

    let look: Look
    private(set) var list: LiveList
    private(set) var mode = Mode.list
    /// In the table's last line but one, until something else is.
    var message: String?
    /// The list was complete: what comes now is news.
    var isSettled = false
    /// The service that Enter means; nil for the first row.
    private(set) var selected: ServiceInstance?
    /// What was learnt for the details.
    private var resolved: DiscoveredService?
    /// The first row on the screen, and how many there is room for.
    var window = (first: 0, rows: 1)
    /// Something was found.
    private(set) var hasFound = false

    init(_ look: Look, order: ListOrder) {
        self.look = look
        list = LiveList(order: order)
    }

    mutating func found(_ service: DiscoveredService, now: Instant) {
        hasFound = true
        let isNews = isSettled
        keepingSelection { $0.present(service, isNews: isNews, now: now) }
    }

    mutating func lost(_ service: DiscoveredService, now: Instant) {
        keepingSelection { $0.lost(service.instance, now: now) }
    }

    /// The answer to `Step.resolve`.
    mutating func resolved(_ service: DiscoveredService) { resolved = service }

    mutating func passed(now: Instant) { keepingSelection { $0.passed(now: now) } }

    /// The service whose details are shown, as far as it is known.
    var detailed: (service: DiscoveredService, isGone: Bool)? {
        guard case .details(let instance, _) = mode else { return nil }
        let row = list.row(of: instance)
        let learnt = resolved.flatMap { $0.instance == instance ? $0 : nil }
        guard let service = row?.service.state == .found ? learnt ?? row?.service : row?.service ?? learnt else {
            return nil
        }
        return (service, row?.isGone ?? true)
    }

    mutating func key(_ key: Key) -> Step {
        switch mode {
        case .filter: typed(key)
        case .details(let instance, let line):
            switch key {
            case .character("q"): return .quit
            case .escape, .backspace, .left: mode = .list
            case .up: mode = .details(instance, from: max(0, line - 1))
            case .down: mode = .details(instance, from: line + 1)
            default: break
            }
        case .list:
            switch key {
            case .character("q"): return .quit
            case .character("/"): mode = .filter
            case .character("s"): sort()
            case .escape: filter("")
            case .enter, .right: return showDetails()
            default: move(key)
            }
        }
        return .stay
    }

    mutating func scrollDetails(to line: Int) {
        if case .details(let instance, _) = mode { mode = .details(instance, from: line) }
    }

    /// The row that is selected.
    var selectedIndex: Int { selected.flatMap { list.index(of: $0) } ?? 0 }

    private mutating func typed(_ key: Key) {
        switch key {
        case .character(let character), .pasted(let character): filter(list.filter.text + String(character))
        case .backspace where list.filter.isEmpty: mode = .list
        case .backspace: filter(String(list.filter.text.dropLast()))
        case .enter: mode = .list
        case .escape:
            filter("")
            mode = .list
        default: move(key)
        }
    }

    private mutating func filter(_ text: String) {
        let filter = LiveFilter(text)
        if filter != list.filter { keepingSelection { $0.filter(filter) } }
    }

    private mutating func sort() {
        let all = ListOrder.allCases
        guard let index = all.firstIndex(of: list.order) else { return }
        let next = all[(index + 1) % all.count]
        keepingSelection { $0.sort(by: next) }
    }

    private mutating func showDetails() -> Step {
        guard let instance = list.instance(at: selectedIndex) else { return .stay }
        selected = instance
        mode = .details(instance, from: 0)
        return list.row(of: instance)?.service.state == .found ? .resolve(instance) : .stay
    }

    private mutating func move(_ key: Key) {
        let (index, page) = (selectedIndex, max(1, window.rows - 1))
        let wanted: Int
        switch key {
        case .up: wanted = index - 1
        case .down: wanted = index + 1
        case .pageUp: wanted = index - page
        case .pageDown: wanted = index + page
        case .home: wanted = 0
        case .end: wanted = list.shownCount - 1
        default: return
        }
        selected = list.instance(at: min(max(wanted, 0), list.shownCount - 1))
    }

    /// If the selected service goes, the one in its place is selected.
    private mutating func keepingSelection(_ change: (inout LiveList) -> Void) {
        guard let instance = selected else { return change(&list) }
        let index = list.index(of: instance)
        change(&list)
        guard list.index(of: instance) == nil, let index else { return }
        selected = list.instance(at: min(index, list.shownCount - 1))
    }
}

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
