import AppSupport
import CommandFrame
import DiscoveryJSON
import DiscoveryTLS
import FileDropCore
import Glibc
import PeerIdentity
import Synchronization

/// Logs failed transfers at a limited rate: someone who connects and breaks off all day must not fill the disk.
final class EventLog: Sendable {
    private let app: App
    private let pace: Mutex<LinePace>
    /// A terminal shows every code, whatever else happens; a file has an end.
    private let showsAllCodes = isatty(STDERR_FILENO) == 1
    private let codePace: Mutex<LinePace>

    init(_ app: App) {
        self.app = app
        pace = Mutex(LinePace(now: .now))
        codePace = Mutex(LinePace(now: .now))
    }

    /// Logs a failed transfer.
    func failed(_ peer: String, _ reason: String) {
        tell("\(peer): \(reason)", "failed") {
            $0.member("peer", peer)
            $0.member("reason", reason)
        }
    }

    /// Logs an entry that was left out.
    func leftOut(_ path: String, of peer: String, _ reason: String) {
        tell("\(peer): \(path) \(reason): left out", "left-out") {
            $0.member("peer", peer)
            $0.member("path", path)
            $0.member("reason", reason)
        }
    }

    /// Says the code of a stranger, for the person at the other side to compare.
    func tell(_ introduction: Introduction, at place: String) {
        guard let code = introduction.code, showsAllCodes || codePace.withLock({ $0.line(now: .now) != nil })
        else { return }
        let name = introduction.peer.name
        // Nothing of the other side stands on the line with the code, nor has spaces with which to begin a line of its own.
        show("the code is \(code), here and there", "code") {
            $0.member("peer", name.text)
            $0.member("address", place)
            $0.member("code", "\(code)")
        }
        app.notices.notice("it is for \(place), which calls itself \(name.word)")
    }

    private func tell(_ text: String, _ event: String, _ members: (inout JSONWriter) -> Void) {
        guard let suppressed = pace.withLock({ $0.line(now: .now) }) else { return }
        if suppressed > 0 {
            app.notices.notice("\(suppressed) more like these were not shown")
            if app.json { app.output.json("suppressed") { $0.member("events", suppressed) } }
        }
        show(text, event, members)
    }

    private func show(_ text: String, _ event: String, _ members: (inout JSONWriter) -> Void) {
        app.notices.notice(text)
        if app.json { app.output.json(event, members) }
    }
}
