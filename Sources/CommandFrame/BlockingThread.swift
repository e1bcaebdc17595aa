import DiscoverySystem

/// A detached thread for blocking calls, which must not occupy one of the few threads that tasks share.
public enum BlockingThread {
    /// Starts a thread that calls `run`.
    /// - Throws: `CommandError` with `.systemError` if the system has no thread left.
    public static func start(_ run: @escaping @Sendable () -> Void) throws(CommandError) {
        let code = SystemThread.start(run)
        guard code == 0 else { throw CommandError(.systemError, "cannot start a thread", errno: code) }
    }
}
