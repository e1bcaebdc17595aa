#if Commands
internal import CommandFrame
internal import Glibc
internal import Synchronization

/// Joins two connections, each half closed by itself; a connection that is lost ends the other.
enum SocketJoin {
    /// Returns when both directions have ended, soon after the task is cancelled.
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
                // The other direction, if it runs, ends with this.
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

/// Waits until something was counted a number of times.
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
