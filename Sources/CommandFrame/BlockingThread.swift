import System

/// A detached thread for calls that block, which must not occupy one of the few threads that tasks share.
public enum BlockingThread {
    /// Starts a thread.
    /// - Throws: `CommandError` with `.systemError` when the system has none.
    public static func start(_ run: @escaping @Sendable () -> Void) throws(CommandError) {
        let code = SystemThread.start(run)
        guard code == 0 else { throw CommandError(.systemError, "cannot start a thread", errno: code) }
    }
}
