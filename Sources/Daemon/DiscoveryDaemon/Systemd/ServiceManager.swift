internal import DNSSD
internal import DiscoverySystem
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

    /// Where it listens for sd_notify(3): a datagram socket, by path or by abstract name.
    private let socket: SocketAddress?

    /// The service has started: its socket answers.
    @discardableResult public func ready() -> Bool { send("READY=1") }

    /// Says in one line what the service does, for `systemctl status`.
    @discardableResult public func status(_ text: String) -> Bool { send("STATUS=\(Self.line(text))") }

    /// A reload begins; `ready()` ends it.
    @discardableResult public func reloading() -> Bool {
        send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now.microseconds)")
    }

    /// The service is ending.
    @discardableResult public func stopping() -> Bool { send("STOPPING=1") }

    /// The service works: to be sent every `watchdogInterval`.
    @discardableResult public func keepAlive() -> Bool { send("WATCHDOG=1") }

    /// Sends one datagram; never waits.
    /// - Returns: whether it was taken.
    private func send(_ message: String) -> Bool {
        guard let socket, let descriptor = try? Sockets.make(AF_UNIX, .datagram) else { return false }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        return unsafe socket.withPointer {
            unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) == bytes.count
        }
    }

    /// One line of at most 1024 characters: a newline would begin another assignment.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(1024).map { $0.value < 0x20 ? " " : $0 }))
    }
}

extension ServiceManager {
    /// The variables that are for this process alone.
    static let variables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    ]
    /// The most sockets that are taken over.
    static let maximumSockets: Int32 = 64

    /// Reads what the manager said, and unsets it so that no child takes it for its own. To be called once, before
    /// other threads read the environment.
    public static func fromEnvironment() -> ServiceManager {
        var environment: [String: String] = [:]
        for name in variables {
            if let value = unsafe getenv(name) { environment[name] = unsafe String(validatingCString: value) }
            unsafe unsetenv(name)
        }
        return ServiceManager(environment: environment, process: getpid())
    }

    /// - Parameter firstDescriptor: where the sockets begin, SD_LISTEN_FDS_START of sd_listen_fds(3).
    package init(environment: [String: String], process: Int32, firstDescriptor: Int32 = 3) {
        var warnings: [String] = []
        let name = environment["NOTIFY_SOCKET"]
        // Nil for another kind of address (as `vsock:`), and for one that is too long.
        let socket = name.flatMap(SocketAddress.init(unixName:))
        if let name, socket == nil {
            warnings.append("NOTIFY_SOCKET=\(name.escapedForTerminal) is not supported: the manager is told nothing")
        }
        self.init(
            watchdogInterval: Self.watchdogInterval(environment, process: process),
            inheritedSockets: Self.sockets(environment, process: process, from: firstDescriptor, warnings: &warnings),
            warnings: warnings, socket: socket)
    }

    /// More often than asked for does no harm, and no clock has to hold a time of centuries.
    private static let longestWatchdogInterval = Duration.seconds(3600)

    /// sd_watchdog_enabled(3): for this process when WATCHDOG_PID is ours or not there.
    private static func watchdogInterval(_ environment: [String: String], process: Int32) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 1,
            environment["WATCHDOG_PID"].map({ Int32($0) == process }) ?? true
        else { return nil }
        return min(.microseconds(microseconds / 2), longestWatchdogInterval)
    }

    private static func sockets(
        _ environment: [String: String], process: Int32, from first: Int32, warnings: inout [String]
    ) -> [InheritedSocket] {
        guard environment["LISTEN_PID"].flatMap(Int32.init) == process,
            let count = environment["LISTEN_FDS"].flatMap(Int32.init), count > 0
        else { return [] }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [InheritedSocket] = []
        for index in 0..<min(count, maximumSockets) {
            let descriptor = first + index
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                warnings.append("descriptor \(descriptor) of LISTEN_FDS is not open")
                continue
            }
            let name = names.dropFirst(Int(index)).first.map(String.init) ?? ""
            guard
                let socket = InheritedSocket(
                    descriptor: descriptor, name: name.isEmpty ? "unknown" : name.escapedForTerminal)
            else {
                warnings.append("descriptor \(descriptor) of LISTEN_FDS is no socket that listens")
                continue
            }
            sockets.append(socket)
        }
        return sockets
    }
}

/// A socket that the service manager made (systemd.socket(5)): it listens, or takes datagrams.
public struct InheritedSocket: Hashable, Sendable {
    /// What comes to it.
    public enum Kind: Hashable, Sendable { case connections, datagrams }

    /// What the socket is bound to.
    public enum Address: Hashable, Sendable {
        /// A path, or an abstract name with `@` before it.
        case unix(path: String)
        /// An IPv4 or IPv6 port.
        case inet(port: UInt16)
    }

    /// The descriptor.
    public let descriptor: Int32
    /// Its name (`FileDescriptorName=`), `unknown` without one; safe for a terminal.
    public let name: String
    /// What it is bound to.
    public let address: Address
    /// What comes to it.
    public let kind: Kind

    /// Nil unless the descriptor is a stream socket that listens on a Unix or IP address, or a datagram socket of an IP port.
    init?(descriptor: Int32, name: String) {
        guard let address = Self.address(of: descriptor) else { return nil }
        switch (Sockets.option(SO_TYPE, of: descriptor), address) {
        case (Int32(SOCK_STREAM.rawValue), _) where Sockets.option(SO_ACCEPTCONN, of: descriptor) == 1:
            kind = .connections
        case (Int32(SOCK_DGRAM.rawValue), .inet): kind = .datagrams
        default: return nil
        }
        self.descriptor = descriptor
        self.name = name
        self.address = address
    }

    private static func address(of descriptor: Int32) -> Address? {
        guard let address = SocketAddress(of: descriptor) else { return nil }
        return address.unixName.map { .unix(path: $0) } ?? address.port.map { .inet(port: $0) }
    }
}
