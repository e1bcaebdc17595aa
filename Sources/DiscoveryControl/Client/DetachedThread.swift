internal import Glibc

/// A thread of its own for calls that wait, which must not occupy one of the few threads that tasks share.
package enum DetachedThread {
    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// - Returns: nil, or the error number with which the system had no thread; then nothing runs.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Int32? {
        var thread = pthread_t()
        // The thread takes over the reference; on failure it is taken back here.
        let body = unsafe Unmanaged.passRetained(Body(run))
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard code == 0 else {
            unsafe body.release()
            return code
        }
        pthread_detach(thread)
        return nil
    }
}
