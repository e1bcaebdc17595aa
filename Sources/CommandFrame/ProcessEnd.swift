import Libc
import Synchronization

/// Ends the process.
public enum ProcessEnd {
    private static let last = Mutex<[@Sendable () -> Void]>([])

    /// Registers `body` to be called before the process ends in any way except SIGKILL or a crash.
    public static func before(_ body: @escaping @Sendable () -> Void) { last.withLock { $0.append(body) } }

    /// Ends the process.
    public static func now(_ status: ExitStatus) -> Never {
        let bodies = last.withLock { last in
            defer { last = [] }
            return last
        }
        for body in bodies { body() }
        // Not exit(3): other threads still run, and exit would tear down what they use.
        _exit(status.rawValue)
    }
}
