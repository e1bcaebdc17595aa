public import CommandText
import Synchronization

/// Input events that the program has not handled yet. Unlike an `AsyncStream`, it survives the cancellation of a waiting task.
public final class TerminalEventQueue: Sendable {
    /// The maximum number of queued events; further input stays in the terminal or pipe.
    static let capacity = 64

    private struct State {
        var events: [TerminalEvent] = []
        var waiting: [(id: Int, continuation: CheckedContinuation<TerminalEvent?, Never>)] = []
        var nextID = 0
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Creates an empty queue.
    public init() {}

    var hasRoom: Bool { state.withLock { $0.events.count < Self.capacity } }

    /// Adds an event; input waits in the terminal while there is no room.
    public func push(_ event: TerminalEvent) {
        let served = state.withLock { state -> CheckedContinuation<TerminalEvent?, Never>? in
            if event == .ended { state.hasEnded = true }
            // One redraw is enough.
            if event == .redraw, state.events.last == .redraw { return nil }
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            if event != .ended { state.events.append(event) }
            return nil
        }
        served?.resume(returning: event)
    }

    /// Puts events back in front of all others.
    public func putBack(_ events: [TerminalEvent]) {
        let served = state.withLock { state in
            state.events.insert(contentsOf: events, at: 0)
            let count = min(state.waiting.count, state.events.count)
            defer {
                state.waiting.removeFirst(count)
                state.events.removeFirst(count)
            }
            return Array(zip(state.waiting.prefix(count).map(\.continuation), state.events))
        }
        for (continuation, event) in served { continuation.resume(returning: event) }
    }

    /// The next event; nil when the task is cancelled.
    public func next() async -> TerminalEvent? {
        // There may be room again.
        defer { RawTerminal.wake() }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let event = state.withLock { state -> TerminalEvent?? in
                    if Task.isCancelled { return .some(nil) }
                    if !state.events.isEmpty { return state.events.removeFirst() }
                    if state.hasEnded { return .ended }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let event { continuation.resume(returning: event) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
            waiting?.resume(returning: nil)
        }
    }
}
