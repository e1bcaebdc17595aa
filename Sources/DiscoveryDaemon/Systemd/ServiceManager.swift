internal import Libc

/// The service manager that started this process, as systemd does it: sd_notify(3), sd_listen_fds(3),
/// sd_watchdog_enabled(3), without libsystemd. Without one every call does nothing. No failure ends the daemon.
public struct ServiceManager: Sendable {
    /// Whether a service manager listens.
    public var isPresent: Bool { socket != nil }
    /// How often `keepAlive()` is to be called: half of what the manager waits for; nil when it does not.
    public let watchdogInterval: Duration?
    /// The sockets that were passed, in their order; this process owns them, and each is close-on-exec.
    public let inheritedSockets: [InheritedSocket]
    /// What was wrong with the environment, for the log; safe for a terminal.
    public let warnings: [String]

    private let socket: NotifySocket?

    init(socket: NotifySocket?, watchdogInterval: Duration?, inheritedSockets: [InheritedSocket], warnings: [String]) {
        self.socket = socket
        self.watchdogInterval = watchdogInterval
        self.inheritedSockets = inheritedSockets
        self.warnings = warnings
    }

    /// No manager.
    public static let absent = ServiceManager(socket: nil, watchdogInterval: nil, inheritedSockets: [], warnings: [])

    /// The service has started: its socket answers.
    @discardableResult public func ready() -> Bool { send("READY=1") }

    /// Says in one line what the service does, for `systemctl status`.
    @discardableResult public func status(_ text: String) -> Bool { send("STATUS=\(Self.line(text))") }

    /// A reload begins; `ready()` ends it.
    @discardableResult public func reloading() -> Bool {
        send("RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)")
    }

    /// The service is ending.
    @discardableResult public func stopping() -> Bool { send("STOPPING=1") }

    /// The service works: to be sent every `watchdogInterval`.
    @discardableResult public func keepAlive() -> Bool { send("WATCHDOG=1") }

    /// - Returns: whether the message was sent.
    private func send(_ message: String) -> Bool { socket?.send(message) ?? false }

    /// One line of at most 1024 characters: a newline would begin another assignment.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(1024).map { $0.value < 0x20 ? " " : $0 }))
    }

    private static var monotonicMicroseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
