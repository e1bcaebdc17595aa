import CLinux
import Libc

/// Operating system threads, for loops and blocking calls, which must not occupy the few threads that tasks share.
package enum SystemThread {
    private final class Start {
        let name: String?
        let body: @Sendable () -> Void

        init(name: String?, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread with signals blocked, so that they reach the program's own threads. SIGTTIN and SIGTTOU
    /// stay unblocked: they stop a background program that uses the terminal, where read(2) would otherwise fail with
    /// EIO.
    ///
    /// - Parameter name: truncated to 15 bytes.
    /// - Returns: 0, or the `errno` with which the thread could not be created.
    package static func start(named name: String? = nil, _ body: @escaping @Sendable () -> Void) -> Int32 {
        var blocked = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&blocked)
        for signal in [SIGTTIN, SIGTTOU] { unsafe sigdelset(&blocked, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }

        var thread = pthread_t()
        // The thread takes over the reference; on failure, it is released here.
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        let code = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                if let name = start.name { unsafe clinux_name_thread(name) }
                start.body()
                return nil
            }, start.toOpaque())
        if code != 0 { unsafe start.release() }
        return code
    }
}

/// Opens once. Waiting ends when it opens or time is up.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var isOver = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Locked(State())

    package init() {}

    /// Waits for what opens the gate that `body` is given.
    /// - Returns: whether it opened in time.
    package static func opens(within limit: Duration, _ body: (Gate) -> Void) async -> Bool {
        let gate = Gate()
        body(gate)
        return await gate.wait(atMost: limit)
    }

    package func open() { finish(true) }

    /// For one waiter at a time. Returns whether the gate opened in time.
    @discardableResult
    package func wait(atMost limit: Duration) async -> Bool {
        let timer = Task {
            // The clock traps beyond 2⁶³ s.
            try? await Task.sleep(for: min(limit, Duration.seconds(1 << 32)), clock: .suspending)
            finish(false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.isOpen { return true }
                if state.isOver { return false }
                state.waiter = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func finish(_ opened: Bool) {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if opened { state.isOpen = true } else { state.isOver = true }
            return waiter
        }
        waiter?.resume(returning: opened)
    }
}

/// Returns the result of `body`. When `limit` has passed, cancels `body` and still waits for it, so `body` must heed
/// cancellation.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async -> Value {
    let work = Task { await body() }
    let timer = Task {
        // The clock traps beyond 2⁶³ s.
        if (try? await Task.sleep(for: min(limit, Duration.seconds(1 << 32)))) != nil { work.cancel() }
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
}
