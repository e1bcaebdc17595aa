public import AppSupport
import CommandFrame
public import CommandText
public import DNSSD
public import Discovery
public import DiscoveryJSON
import Glibc
import Synchronization

/// This process's terminal in raw mode; without a terminal, or if plain lines are wanted, standard input as lines.
///
/// The terminal is restored by `close`, whenever the process ends other than by SIGKILL, and while Ctrl-Z suspends it. Ctrl-C still sends
/// its signal.
public final class Terminal: Sendable {
    /// Whether there is a screen to draw on; otherwise the program uses lines.
    public let isInteractive: Bool
    private let queue = TerminalEventQueue()
    private let screen: Screen?
    /// Without a screen.
    private let lines: TerminalInput<LineInput>?
    private let isOpen = Mutex(true)
    private let app: App

    /// Opens the terminal; only one may be open.
    /// - Parameter plain: use lines even on a terminal, as always with `--json`.
    public static func open(for app: App, plain: Bool = false) -> Terminal {
        Terminal(app: app, plain: plain || app.json)
    }

    /// Opens a terminal with a screen; nil if there is none.
    public static func openScreen(for app: App) -> Terminal? {
        guard app.output.canMoveCursor, isatty(STDIN_FILENO) == 1 else { return nil }
        let terminal = Terminal(app: app, plain: app.json)
        if terminal.isInteractive { return terminal }
        terminal.close()
        return nil
    }

    private init(app: App, plain: Bool) {
        self.app = app
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable).first { !$0.isEmpty } ?? ""
        let isUTF8 = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        let ability = Renderer.Ability(hasColour: variable("NO_COLOR").isEmpty, hasUnicode: isUTF8)
        let hasScreen = !plain && app.output.canMoveCursor
        screen = hasScreen ? Screen(.screenWithMouse, ability, queue: queue) : nil
        isInteractive = screen != nil
        lines = screen == nil ? TerminalInput(queue: queue, decoder: LineInput()) : nil
        lines?.start()
    }

    /// Puts back events from `next` that were not handled: they come first again.
    public func putBack(_ events: [TerminalEvent]) { queue.putBack(events) }

    /// The next event; nil when the task is cancelled. Any number of tasks may wait; each event goes to one of them.
    public func next() async -> TerminalEvent? { await queue.next() }

    /// The screen's current size.
    public var size: ScreenSize { RawTerminal.size }

    /// Shows what `body` draws; does nothing without a screen. If the screen is smaller than `minimum`, it says so instead.
    public func draw(atLeast minimum: ScreenSize, anew: Bool = false, _ body: (inout Canvas) -> Void) {
        guard let screen else { return }
        var canvas = Canvas(size)
        if canvas.size.fits(minimum) { body(&canvas) } else { canvas.putTooSmall(minimum) }
        if !screen.draw(canvas, anew: anew) { app.stop.request(.unread) }
    }

    /// Prints something if there is no screen, or after `close`: as text, or with `--json` as a line of JSON.
    ///
    /// Each line of `text` is escaped for a terminal; values within it must not contain line breaks of their own.
    public func tell(_ event: String, _ text: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
        guard !isScreen else { return }
        if app.json { return app.output.json(event, members) }
        for line in text.split(separator: "\n") { app.output.line(String(line)) }
    }

    /// Whether there is a screen now.
    private var isScreen: Bool { isInteractive && isOpen.withLock { $0 } }

    /// Ends the program if a publication has no backend for 5 s; reports a backend that went away and came back.
    public func observe(_ publication: Publication) async { await app.observe(publication, quietly: isScreen) }

    /// Prints a browser's event if there is no screen: `found NAME` and `lost NAME`, or with `--json` the lines of docs/contract/json.md,
    /// section 3. Ends the program if there is no backend for 5 s.
    public func tell(_ event: ServiceEvent) {
        if case .backend(let state) = event { app.observe(state, quietly: isScreen) }
        guard !isScreen else { return }
        if app.json {
            var line = JSONWriter()
            line.line(event, detail: .identity)
            if !line.bytes.isEmpty { app.output.write(line.bytes) }
            return
        }
        switch event {
        case .found(let service): app.output.line("found \(service.instance.name)")
        case .lost(let service): app.output.line("lost \(service.instance.name)")
        case .degraded(let reason): app.notices.notice(reason)
        case .changed, .settled, .backend: break
        }
    }

    /// Prints a message on standard error, if there is no screen.
    public func notice(_ text: String) {
        if !isScreen { app.notices.notice(text) }
    }

    /// Restores the terminal, and stops reading from it.
    public func close() {
        lines?.stop()
        screen?.close()
        isOpen.withLock { $0 = false }
    }
}

private func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
