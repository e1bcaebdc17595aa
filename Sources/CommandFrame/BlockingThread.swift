import Glibc

/// A detached thread for calls that block, which must not occupy one of the few threads that tasks share.
public enum BlockingThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread.
    /// - Throws: `CommandError` with `.systemError` when the system has none.
    public static func start(_ run: @escaping @Sendable () -> Void) throws(CommandError) {
        var thread = pthread_t()
        let body = unsafe Unmanaged.passRetained(Body(run))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            unsafe body.release()
            throw CommandError(.systemError, "cannot start a thread", errno: code)
        }
        pthread_detach(thread)
    }
}
