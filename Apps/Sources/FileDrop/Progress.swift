import AppSupport
import CommandFrame
import DNSSD
import DiscoveryJSON
import FileDropCore
import Glibc
import NIOCore
import Synchronization

/// Shows a transfer's progress: a bar if standard error is a terminal, a line of JSON per second with `--json`.
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

    /// Sets how many bytes to expect, if known.
    func begin(total: Int64?) {
        state.withLock { state in
            state = State()
            state.line.total = total
        }
    }

    /// Sets the current file's name.
    func name(_ text: String) { state.withLock { $0.line.name = text.safeForTerminal } }

    /// Adds transferred bytes.
    func advance(_ count: Int) {
        state.withLock { state in
            // The other side chooses the sizes, and their sum may overflow.
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

    /// Removes the bar so that lines can be printed. Ctrl-C leaves it, to show how far the transfer got.
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

    /// Reports that a file has been transferred.
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
            // People compare the beginning; scripts get the whole digest.
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
