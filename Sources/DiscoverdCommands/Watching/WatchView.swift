#if Commands
internal import CommandFrame
internal import CommandText

/// Lines on a screen that stay in place, and scroll where there are more than rows.
actor WatchView {
    private static let minimumSize = ScreenSize(columns: 16, rows: 4)

    private let screen: Screen
    private let title: String
    private let stop: Stop
    /// Each safe for a terminal.
    private var lines: [String] = []
    private var message: String?
    private var first = 0

    init(_ screen: Screen, title: String, _ stop: Stop) {
        self.screen = screen
        self.title = title
        self.stop = stop
    }

    func show(_ lines: [String]) {
        (self.lines, message) = (lines, nil)
        draw()
    }

    /// What was seen last stays.
    func show(message: String) {
        self.message = message
        draw()
    }

    /// Follows keys until a person leaves or the task is cancelled.
    func followKeys() async {
        while let event = await screen.next() {
            switch event {
            case .ended, .key(.character("q")): return
            case .key(.up): first -= 1
            case .key(.down): first += 1
            case .key(.pageUp): first -= screen.size.rows - 2
            case .key(.pageDown): first += screen.size.rows - 2
            case .key(.home): first = 0
            case .key(.end): first = lines.count
            case .key, .line, .redraw: break
            }
            draw(anew: event == .redraw)
        }
    }

    private func draw(anew: Bool = false) {
        var canvas = Canvas(screen.size)
        if canvas.size.fits(Self.minimumSize) {
            draw(on: &canvas)
        } else {
            canvas.putTooSmall(Self.minimumSize)
        }
        if !screen.draw(canvas, anew: anew) { stop.request(.unread) }
    }

    private func draw(on canvas: inout Canvas) {
        let rows = 1..<canvas.size.rows - 1
        first = min(max(first, 0), max(0, lines.count - rows.count))
        canvas.put(title, row: 0, column: 0, Style(bold: true))
        for (row, line) in zip(rows, lines.dropFirst(first)) { canvas.put(safe: line, row: row, column: 0) }
        let below = lines.count - first - rows.count
        let keys = below > 0 ? "\(below) more below  q quit" : "q quit"
        canvas.put(message ?? keys, row: rows.upperBound, column: 0, message == nil ? .plain : Style(.yellow))
    }
}
#endif
