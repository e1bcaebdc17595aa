#if Commands
internal import CommandFrame
internal import CommandText
internal import DiscoveryControl

/// Shows what the daemon says, again whenever it changed: on a screen, or as lines that came and went.
struct Watching<Seen> {
    /// The daemon has no stream of all that is shown; a look costs it less than a millisecond.
    private var pause: Duration { .seconds(1) }

    let session: Session
    let title: String
    /// Asks the daemon.
    let look: () async throws -> Seen
    /// What a screen of these columns shows of it, safe for a terminal.
    let lines: (Seen) -> [String]
    /// Prints what changed.
    let tell: (Seen) throws -> Void

    /// Runs until a person leaves, or the command is to end.
    /// - Throws: what the first look throws; later ones are tried again.
    func run() async throws -> ExitStatus {
        let seen = try await look()
        let terminal = session.terminal
        let ability = Renderer.Ability(hasColour: terminal.hasColour, hasUnicode: terminal.isUTF8)
        if !session.json, terminal.movesCursor, let screen = Screen(.screen, ability) {
            await show(seen, on: screen)
        } else {
            try await print(seen)
        }
        return .done
    }

    private func show(_ first: Seen, on screen: Screen) async {
        defer { screen.close() }
        let view = WatchView(screen, title: title, session.stop)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await view.followKeys()
                // Cancelled, it is what ends the command that counts.
                guard !Task.isCancelled else { return }
                // A look at a daemon that hangs goes on for seconds, and nobody waits for it.
                screen.close()
                ProcessEnd.now(.done)
            }
            await view.show(lines(first))
            while await isTimeToLook() {
                do {
                    await view.show(lines(try await look()))
                } catch {
                    await view.show(message: Self.text(error))
                }
            }
            group.cancelAll()
        }
    }

    private func print(_ first: Seen) async throws {
        try tell(first)
        try session.output.flush()
        var isAway = false
        while await isTimeToLook() {
            let seen: Seen
            do {
                seen = try await look()
            } catch let error where error is ControlError || error is CommandError {
                guard !session.stop.isRequested else { return }
                if !isAway { session.notices.notice(Self.text(error)) }
                isAway = true
                continue
            }
            if isAway { session.notices.notice("the daemon answers again") }
            isAway = false
            // A full disk is no daemon that is away.
            try tell(seen)
            try session.output.flush()
        }
    }

    /// - Returns: false once the command is to end.
    private func isTimeToLook() async -> Bool {
        (try? await Task.sleep(for: pause)) != nil && !session.stop.isRequested
    }

    private static func text(_ error: any Error) -> String {
        let error = (error as? CommandError) ?? (error as? ControlError).map { CommandError($0) }
        return "the daemon does not answer; what was seen last is shown\(error.map { ": \($0.message)" } ?? "")"
    }
}

/// What is different in a list of lines since it was last looked at. A value.
struct LineChanges {
    /// A line that came or went.
    struct Change: Hashable {
        let isNew: Bool
        let line: String
    }

    private var last: [String] = []

    /// - Returns: those that went, then those that came; empty if nothing changed.
    mutating func changes(to lines: [String]) -> [Change] {
        defer { last = lines }
        let difference = lines.difference(from: last)
        return difference.removals.map { Change(isNew: false, line: $0.line) }
            + difference.insertions.map { Change(isNew: true, line: $0.line) }
    }
}

extension CollectionDifference<String>.Change {
    fileprivate var line: String {
        switch self {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
    }
}

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
        (self.screen, self.title, self.stop) = (screen, title, stop)
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
