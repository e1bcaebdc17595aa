import AppSupport
import CommandFrame
import CommandText
import DNSSD
import Glibc
import LanChatCore
import Synchronization

/// The user interface: on a terminal, an input line below messages that scroll as the terminal's own text; otherwise plain lines.
final class ChatScreen: Sendable {
    private struct State {
        var editor = LineEditor()
        var isTyping: Bool
    }

    private let app: App
    private let input = StandardInput()
    /// Whether a person is typing.
    let isInteractive: Bool
    private let state: Mutex<State>
    private let plain = Mutex(LineFraming(limit: ChatText.maximumLine))

    init(_ app: App) {
        self.app = app
        isInteractive = !app.json && app.output.canMoveCursor && RawTerminal.enter(.keys)
        state = Mutex(State(isTyping: isInteractive))
        redraw()
        // Without this thread, the line reappears at the next key.
        if isInteractive { try? BlockingThread.start { self.followTerminal() } }
    }

    /// Redraws the line after the terminal was resized, or the process continued after Ctrl-Z. Blocks.
    private func followTerminal() {
        var bytes = [UInt8](repeating: 0, count: 256)
        var waiting = pollfd(fd: RawTerminal.wakeups, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, -1) >= 0 || errno == EINTR {
            while read(waiting.fd, &bytes, bytes.count) == bytes.count {}
            if RawTerminal.takeRedraw() { redraw() }
        }
    }

    /// Prints an event above the input line.
    func show(_ event: ChatEvent) {
        if app.json { return event.write(to: app.output) }
        show(text(event)) { paint($0, event) }
    }

    /// Prints one of the program's own messages above the input line.
    func show(_ line: String, _ paint: (String) -> String = { $0 }) {
        guard isInteractive else { return app.output.line(line) }
        state.withLock { state in
            let line = paint(line.safeForTerminal)
            app.output.write(Array("\r\u{1B}[K\(line)\r\n\(prompt(state))".utf8))
        }
    }

    /// Waits for typed lines; nil at the end of input, and if standard input is a terminal that belongs to another job: a background job
    /// that reads is stopped by SIGTTIN.
    func lines() async -> [String]? {
        guard RawTerminal.mayRead else { return nil }
        guard let bytes = await input.read() else { return rest() }
        guard isInteractive else {
            return plain.withLock { plain in
                plain.received(bytes).map { line in
                    guard case .line(let bytes) = line else { return "" }
                    return String(decoding: bytes, as: UTF8.self)
                }
            }
        }
        let (lines, isEnd) = state.withLock { state in
            let events = state.editor.received(bytes)
            app.output.write(Array(prompt(state).utf8))
            let lines = events.compactMap { if case .line(let line) = $0 { line } else { nil } }
            return (lines, events.contains(.end))
        }
        return isEnd && lines.isEmpty ? nil : lines
    }

    /// Restores the terminal.
    func close() {
        let wasTyping = state.withLock { state in
            defer { state.isTyping = false }
            return state.isTyping
        }
        guard wasTyping else { return }
        app.output.write(Array("\r\u{1B}[K".utf8))
        RawTerminal.restore()
    }

    private func rest() -> [String]? {
        plain.withLock { $0.ended() }.map { [String(decoding: $0, as: UTF8.self)] }
    }

    private func redraw() { state.withLock { app.output.write(Array(prompt($0).utf8)) } }

    private func prompt(_ state: State) -> String {
        guard state.isTyping else { return "" }
        let room = RawTerminal.size.columns - 3
        return "\r\u{1B}[K> " + state.editor.text.safeForTerminal.tail(columns: max(1, room))
    }

    private func text(_ event: ChatEvent) -> String {
        switch event {
        case .joined(let nick): "\(nick) has joined"
        case .left(let nick): "\(nick) has left"
        case .renamed(let was, let nick): "\(was) is now \(nick)"
        case .message(let nick, let text): "\(nick): \(text)"
        case .notice(let text): "* \(text)"
        }
    }

    private func paint(_ line: String, _ event: ChatEvent) -> String {
        guard app.output.hasColour else { return line }
        switch event {
        case .message(let nick, _):
            return "\u{1B}[1m\(nick.safeForTerminal)\u{1B}[0m" + line.dropFirst(nick.safeForTerminal.count)
        case .joined, .left, .renamed, .notice: return "\u{1B}[2m\(line)\u{1B}[0m"
        }
    }
}
