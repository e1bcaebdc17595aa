import CommandFrame
import Glibc
import Synchronization

/// Standard input, read on a separate thread, so that a silent terminal or pipe blocks no one else. For use by one task.
public struct StandardInput: Sendable {
    /// Reads from descriptor 0.
    public init() {}

    /// Waits for bytes; nil at the end, on an error, and when the task is cancelled.
    public func read(atMost limit: Int = 16 * 1024) async -> [UInt8]? {
        let turn = Turn()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard turn.begin(continuation) else { return }
                // Not cancellable: after cancellation the thread stays in read() until the process ends.
                do throws(CommandError) {
                    try BlockingThread.start {
                        var buffer = [UInt8](repeating: 0, count: limit)
                        var count = Glibc.read(STDIN_FILENO, &buffer, limit)
                        while count < 0 && errno == EINTR { count = Glibc.read(STDIN_FILENO, &buffer, limit) }
                        turn.end(count > 0 ? Array(buffer.prefix(count)) : nil)
                    }
                } catch {
                    turn.end(nil)
                }
            }
        } onCancel: {
            turn.end(nil)
        }
    }

    /// The task that waits for a read; resumed once.
    private final class Turn: Sendable {
        private struct State {
            var continuation: CheckedContinuation<[UInt8]?, Never>?
            var isOver = false
        }
        private let state = Mutex(State())

        func begin(_ continuation: CheckedContinuation<[UInt8]?, Never>) -> Bool {
            let isOver = state.withLock { state in
                if !state.isOver { state.continuation = continuation }
                return state.isOver
            }
            if isOver { continuation.resume(returning: nil) }
            return !isOver
        }

        func end(_ bytes: [UInt8]?) {
            let continuation = state.withLock { state in
                state.isOver = true
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume(returning: bytes)
        }
    }
}
