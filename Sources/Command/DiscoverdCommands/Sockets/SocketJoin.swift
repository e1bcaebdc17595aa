#if Commands
internal import CommandFrame
internal import Libc
internal import Synchronization

/// Joins two connections. Each direction is half-closed separately; losing one connection ends the other.
enum SocketJoin {
    /// Returns when both directions have ended, or soon after the task is cancelled.
    static func run(_ one: Socket, _ other: Socket) async {
        let ends = Countdown(2)
        for (source, sink) in [(one, other), (other, one)] {
            do {
                try BlockingThread.start {
                    switch Pump.run(from: source.descriptor, to: sink.descriptor) {
                    case .finished: sink.endSending()
                    case .readFailed, .writeFailed:
                        source.end()
                        sink.end()
                    }
                    ends.count()
                }
            } catch {
                // Ends the other direction, if it is still running.
                one.end()
                other.end()
                ends.count()
            }
        }
        await withTaskCancellationHandler {
            await ends.value()
        } onCancel: {
            one.end()
            other.end()
        }
    }
}

/// Waits until it has been counted down to zero.
private final class Countdown: Sendable {
    private struct State {
        var left: Int
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(left: count)) }

    func count() { update { $0.left -= 1 } }

    func value() async {
        await withCheckedContinuation { continuation in update { $0.waiter = continuation } }
    }

    private func update(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            body(&state)
            guard state.left <= 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
#endif
