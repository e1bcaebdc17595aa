import AppSupport
import CommandFrame
import DNSSD
import DiscoveryJSON
import FileDropCore
import Glibc
import NIOCore
import Synchronization

/// How far a transfer is: a bar on standard error where that is a terminal, a line of JSON a second with `--json`.
final class Progress: Sendable {
    private struct State {
        var line = ProgressLine(name: "", done: 0, total: nil, elapsed: .zero)
        var start = ContinuousClock.now
        var shown = ContinuousClock.now
        var isVisible = false
    }

    private let app: App
    private let showsBar: Bool
    private let interval: Duration
    private let state = Mutex(State())

    init(_ app: App) {
        self.app = app
        showsBar = !app.json && isatty(STDERR_FILENO) == 1
        interval = app.json ? .seconds(1) : .milliseconds(100)
    }

    /// So many bytes are to come, if that is known.
    func begin(total: Int64?) {
        state.withLock { state in
            state = State()
            state.line.total = total
        }
    }

    /// From now on it is about this file.
    func name(_ text: String) { state.withLock { $0.line.name = text.safeForTerminal } }

    /// So many bytes more are done.
    func advance(_ count: Int) {
        state.withLock { state in
            // The sizes are the other side's word: together they may be more than a number holds.
            let (done, isMore) = state.line.done.addingReportingOverflow(Int64(count))
            state.line.done = isMore ? .max : done
            let now = ContinuousClock.now
            guard now - state.shown >= interval else { return }
            state.shown = now
            state.line.elapsed = now - state.start
            show(state.line)
            state.isVisible = true
        }
    }

    /// Takes the bar away, so that lines can be printed. At Ctrl-C it stays: it says how far it was.
    func clear() {
        state.withLock { state in
            guard showsBar, state.isVisible else { return }
            state.isVisible = false
            Self.write(app.stop.isRequested ? "\n" : "\r\u{1B}[K")
        }
    }

    private func show(_ line: ProgressLine) {
        if app.json {
            app.output.json("progress") {
                $0.member("path", line.name)
                $0.member("bytes", Int(line.done))
                $0.member("total", line.total.map(Int.init))
            }
        } else if showsBar {
            Self.write("\r\u{1B}[K" + line.text(columns: Self.columns - 1))
        }
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Tells that a file is through.
    func tell(_ event: String, _ path: String, bytes: Int64, digest: [UInt8]?, note: String? = nil, from: String? = nil)
    {
        clear()
        if app.json {
            app.output.json(event) {
                $0.member("path", path)
                $0.member("bytes", Int(bytes))
                if let digest { $0.member("sha256", Checksum.text(digest)) }
                if let note { $0.member("note", note) }
                if let from { $0.member("from", from) }
            }
        } else {
            // A person compares the beginning; a script has it all.
            let isShort = app.output.isTerminal
            let text = digest.map { "  sha256 " + Checksum.text($0).shortened(to: isShort ? 12 : 64) } ?? ""
            let size = isShort ? ProgressLine.size(bytes) : "\(bytes) bytes"
            app.output.line(
                "\(event) \(path)  \(size)\(text)\(note.map { "  (\($0))" } ?? "")\(from.map { "  from \($0)" } ?? "")")
        }
    }
}

extension String {
    fileprivate func shortened(to count: Int) -> String { self.count > count ? prefix(count) + "…" : self }
}
