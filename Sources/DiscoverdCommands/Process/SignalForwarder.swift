#if Commands
internal import Synchronization

/// Forwards signals to a program, including those that arrive while it is starting.
final class SignalForwarder: Sendable {
    private struct State {
        var child: ChildProcess?
        var early: [Int32] = []
    }

    private let state = Mutex(State())

    func forward(_ signal: Int32) {
        let child = state.withLock { state in
            if state.child == nil, state.early.count < 8 { state.early.append(signal) }
            return state.child
        }
        child?.send(signal)
    }

    func started(_ child: ChildProcess) {
        let early = state.withLock { state in
            state.child = child
            return state.early
        }
        for signal in early { child.send(signal) }
    }
}
#endif
