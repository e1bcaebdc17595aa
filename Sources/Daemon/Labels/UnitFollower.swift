internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc

/// Follows the units of systemd that run, on a thread of its own: /run/systemd/units has a link for each (journald reads them), which leads to
/// the number of this run.
struct UnitFollower {
    private static let directory = "/run/systemd/units"
    private static let prefix = "invocation:"
    private static let maximumUnits = 8192
    /// After a change: others may follow it.
    private static let delay = Duration.milliseconds(200)
    /// Between two looks without a change.
    private static let interval = Duration.seconds(300)

    private let files = UnitFiles()
    private let board: Awaited<LabelBoard>
    private let stop: StopBell
    private let time: any TimeSource = SystemTime()
    /// The run of each unit that was looked at; its files are read once a run.
    private var runs: [String: String] = [:]

    init(_ board: Awaited<LabelBoard>, _ stop: StopBell) { (self.board, self.stop) = (board, stop) }

    /// Until `stop` is rung.
    mutating func run() {
        var pause = RetryPause()
        while !stop.isRung {
            let start = time.now
            do throws(SystemError) {
                try follow()
            } catch {
                let now = time.now
                board.change { $0.failed(.systemd, error.description, at: now) }
                stop.wait(pause.failed(after: now - start))
            }
        }
    }

    private mutating func follow() throws(SystemError) {
        let watch = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        guard watch >= 0 else { throw SystemError(errno, "inotify") }
        defer { close(watch) }
        let events = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF)
        guard unsafe inotify_add_watch(watch, Self.directory, events) >= 0 else {
            throw SystemError(errno, Self.directory)
        }
        runs = [:]
        while !stop.isRung {
            try look()
            guard wait(for: watch, Self.interval) else { continue }
            stop.wait(Self.delay)
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while unsafe read(watch, &buffer, buffer.count) > 0 {}
        }
    }

    /// - Returns: whether something has changed.
    private func wait(for watch: Int32, _ limit: Duration) -> Bool {
        var items = [
            pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.bell.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        return unsafe poll(&items, 2, Deadline(in: limit).milliseconds) > 0 && items[0].revents != 0
    }

    private mutating func look() throws(SystemError) {
        let links = try SystemFile.names(in: Self.directory, atMost: Self.maximumUnits) { name in
            name.hasPrefix(Self.prefix) && (name.hasSuffix(".service") || name.hasSuffix(".socket"))
        }
        var found: [String: String] = [:]
        for link in links {
            // Gone meanwhile where it leads nowhere.
            guard let run = SystemFile.link("\(Self.directory)/\(link)") else { continue }
            found[String(link.dropFirst(Self.prefix.count))] = run
        }
        let units = Set(found.keys)
        for (unit, run) in found where runs[unit] != run {
            let subject = files.subject(unit)
            _ = board.change { $0.saw(subject, unit, of: .systemd) }
        }
        runs = found
        let now = time.now
        board.change { $0.listed(units, of: .systemd, at: now) }
    }
}
