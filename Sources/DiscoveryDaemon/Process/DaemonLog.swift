internal import DNSSD
internal import Discovery
internal import Glibc
package import Logging

/// Writes log lines to standard error: with journald's priorities (sd-daemon(3)) when that is where they go, else plain.
package struct DaemonLog: LogHandler {
    /// As everywhere, unless this logger was given a level of its own.
    package var logLevel: Logger.Level {
        get { own ?? common() }
        set { own = newValue }
    }
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let isJournal: Bool
    private let common: @Sendable () -> Logger.Level
    private var own: Logger.Level?

    /// - Parameter level: how much is logged, asked each time.
    package init(
        label: String, isJournal: Bool = Self.isJournal, level: @escaping @Sendable () -> Logger.Level = { .info }
    ) {
        self.label = label
        self.isJournal = isJournal
        common = level
    }

    /// Whether standard error is the journal: systemd says which stream that is (systemd.exec(5)).
    package static var isJournal: Bool {
        guard let text = unsafe getenv("JOURNAL_STREAM").map({ unsafe String(cString: $0) }) else { return false }
        var info = stat()
        return unsafe fstat(STDERR_FILENO, &info) == 0 && text == "\(info.st_dev):\(info.st_ino)"
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let fields = all.sorted { $0.key < $1.key }.map { " \($0.key)=\("\($0.value)".escapedForTerminal)" }.joined()
        // A message may have a name of the network in it.
        let text = event.message.description.escapedForTerminal + fields
        let line = isJournal ? "<\(event.level.priority)>\(text)\n" : "discoverd: \(event.level.prefix)\(text)\n"
        let bytes = Array(line.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension Logger.Level {
    /// syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    fileprivate var prefix: String {
        switch self {
        case .critical, .error: "error: "
        case .warning: "warning: "
        case .notice, .info: ""
        case .debug, .trace: "\(self): "
        }
    }
}
