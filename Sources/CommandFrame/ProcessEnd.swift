import Glibc
import Synchronization

/// The end of the process.
public enum ProcessEnd {
    private static let last = Mutex<[@Sendable () -> Void]>([])

    /// Has `body` called before the process ends, however that comes about, but for SIGKILL and a crash.
    public static func before(_ body: @escaping @Sendable () -> Void) { last.withLock { $0.append(body) } }

    /// Ends the process.
    public static func now(_ status: ExitStatus) -> Never {
        let bodies = last.withLock { last in
            defer { last = [] }
            return last
        }
        for body in bodies { body() }
        // Not exit(): other threads still run, and what they use must not be torn down under them.
        _exit(status.rawValue)
    }
}
