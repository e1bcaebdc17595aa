import Glibc

/// A detached thread for a call that blocks.
package enum BlockingThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Returns: whether the system gave one.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(run))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
