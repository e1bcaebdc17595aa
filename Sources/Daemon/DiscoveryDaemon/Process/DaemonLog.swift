internal import DNSSD
internal import DiscoveryControl
internal import DiscoverySystem
internal import Libc

/// The daemon's log, on standard error: with journald's priorities (sd-daemon(3)) when that is where it goes, else plain.
package struct DaemonLog: Sendable {
    /// How much a line matters.
    package enum Level: String, CaseIterable, Comparable, Sendable {
        case debug, info, notice, warning, error

        package static func < (one: Level, other: Level) -> Bool { one.priority > other.priority }
    }

    private let isJournal: Bool
    private let write: @Sendable ([UInt8]) -> Void
    private let least: @Sendable () -> Level

    /// - Parameters:
    ///   - write: takes each line, with its end.
    ///   - least: the level from which lines are written, asked each time.
    package init(
        isJournal: Bool = Self.isJournal,
        write: @escaping @Sendable ([UInt8]) -> Void = Self.toStandardError,
        least: @escaping @Sendable () -> Level = { .info }
    ) {
        self.isJournal = isJournal
        self.write = write
        self.least = least
    }

    /// Whether standard error is the journal: systemd says which stream that is (systemd.exec(5)).
    package static var isJournal: Bool {
        guard let text = Environment.value("JOURNAL_STREAM") else { return false }
        var info = stat()
        return unsafe fstat(STDERR_FILENO, &info) == 0 && text == "\(info.st_dev):\(info.st_ino)"
    }

    package func notice(_ text: String, _ fields: [(String, String)] = []) { log(.notice, text, fields) }
    package func warning(_ text: String) { log(.warning, text) }
    package func error(_ text: String) { log(.error, text) }

    /// Writes a line, with `fields` behind the text. Either may hold a name of the network; of the text, what is escaped already stays.
    package func log(_ level: Level, _ text: String, _ fields: [(String, String)] = []) {
        guard level >= least() else { return }
        let pairs = fields.map { " \($0)=\($1.escapedForTerminal)" }.joined()
        let start = isJournal ? "<\(level.priority)>" : "discoverd: \(level.prefix)"
        write(Array("\(start)\(text.escapedOnce)\(pairs)\n".utf8))
    }

    /// One write(2), so that lines of other processes stay apart from it.
    @Sendable package static func toStandardError(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { unsafe Libc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension DaemonLog.Level {
    /// syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        }
    }

    fileprivate var prefix: String {
        switch self {
        case .error, .warning, .debug: "\(self): "
        case .notice, .info: ""
        }
    }
}
