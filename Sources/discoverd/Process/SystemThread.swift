internal import DiscoveryControl

/// A thread of its own for calls that block, which must not occupy one of the few threads that tasks share.
enum SystemThread {
    /// Starts a detached thread.
    static func start(_ run: @escaping @Sendable () -> Void) throws(CommandError) {
        guard let code = DetachedThread.start(run) else { return }
        throw CommandError(.systemError, "cannot start a thread: \(systemMessage(code))")
    }
}
