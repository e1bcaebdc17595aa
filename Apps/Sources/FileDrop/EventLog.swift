import AppSupport
import CommandFrame
import DiscoveryJSON
import FileDropCore
import Synchronization

/// What went wrong in transfers, at a pace that others cannot set: whoever connects and breaks off all day does not fill a disk.
final class EventLog: Sendable {
    private let app: App
    private let pace: Mutex<LinePace>

    init(_ app: App) {
        self.app = app
        pace = Mutex(LinePace(now: .now))
    }

    /// A transfer failed.
    func failed(_ peer: String, _ reason: String) {
        tell("\(peer): \(reason)", "failed") {
            $0.member("peer", peer)
            $0.member("reason", reason)
        }
    }

    /// An entry was left out.
    func leftOut(_ path: String, of peer: String, _ reason: String) {
        tell("\(peer): \(path) \(reason): left out", "left-out") {
            $0.member("peer", peer)
            $0.member("path", path)
            $0.member("reason", reason)
        }
    }

    private func tell(_ text: String, _ event: String, _ members: (inout JSONWriter) -> Void) {
        guard let suppressed = pace.withLock({ $0.line(now: .now) }) else { return }
        if suppressed > 0 {
            app.notices.notice("\(suppressed) more like these were not shown")
            if app.json { app.output.json("suppressed") { $0.member("events", suppressed) } }
        }
        app.notices.notice(text)
        if app.json { app.output.json(event, members) }
    }
}
