internal import DNSSD
internal import Libc

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
        let socket = name.flatMap(NotifySocket.init)
        if let name, socket == nil {
            warnings.append("NOTIFY_SOCKET=\(name.escapedForTerminal) is not supported: the manager is told nothing")
        }
        self.init(
            socket: socket,
            watchdogInterval: Self.watchdogInterval(environment, process: process),
            inheritedSockets: Self.sockets(environment, process: process, from: firstDescriptor, warnings: &warnings),
            warnings: warnings)
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
                warnings.append("descriptor \(descriptor) of LISTEN_FDS is no listening stream socket")
                continue
            }
            sockets.append(socket)
        }
        return sockets
    }
}
