import DiscoverySystem

#if TLS
public import DiscoveryTLS
#endif

/// A session's events, for one task. Only states that changed again before they were read are skipped, and never `connected` or
/// `disconnected`.
///
/// Bounded: of events other than messages the newest 1024 are kept; while too many messages wait, no more are read from the network.
public struct SessionEvents: AsyncSequence, Sendable {
    /// The sequence ends with the session.
    public typealias Failure = Never

    let queue: SessionEventQueue

    /// For use by one task at a time.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: queue) }

    /// Iterates over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let queue: SessionEventQueue

        /// The next event; nil if the session has ended or the task is cancelled.
        public mutating func next() async -> SessionEvent? { await queue.next() }

        /// The next event; nil if the session has ended or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? { await queue.next() }
    }
}

extension SessionEvent {
    fileprivate var isMessage: Bool { if case .received = self { true } else { false } }

    /// Whether the peer's next state makes this event superfluous.
    fileprivate func isOutdone(by next: SessionEvent) -> Bool {
        guard case .changed(let old) = self, case .changed(let new) = next, old.id == new.id else { return false }
        return old.state != .connected && old.state != .disconnected
    }
}

final class SessionEventQueue: Sendable {
    /// How many messages may wait, and how many bytes.
    static let maximumMessages = 256
    static let maximumBytes = 1 << 20
    /// How many other events may wait; beyond that the oldest is dropped.
    static let maximumNews = 1024

    private struct State {
        var events: [SessionEvent] = []
        var messages = 0
        var bytes = 0
        var hasEnded = false
        var waiting: (id: Int, continuation: CheckedContinuation<SessionEvent?, Never>)?
        var room: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var nextID = 0

        var isFull: Bool { messages >= maximumMessages || bytes >= maximumBytes }
    }

    private let state = Locked(State())

    func push(_ event: SessionEvent) {
        let waiting = state.withLock { state -> CheckedContinuation<SessionEvent?, Never>? in
            guard !state.hasEnded else { return nil }
            if let waiting = state.waiting {
                state.waiting = nil
                return waiting.continuation
            }
            if state.events.last?.isOutdone(by: event) == true { state.events.removeLast() }
            if case .received(let bytes, _, _) = event {
                state.messages += 1
                state.bytes += bytes.count
            }
            state.events.append(event)
            if state.events.count - state.messages > Self.maximumNews {
                state.events.firstIndex { !$0.isMessage }.map { _ = state.events.remove(at: $0) }
            }
            return nil
        }
        waiting?.resume(returning: event)
    }

    /// Waits until messages may be pushed.
    func room() async {
        let id = nextID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    if !state.isFull || state.hasEnded || Task.isCancelled { return true }
                    state.room.append((id, continuation))
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.room.firstIndex { $0.id == id }.map { state.room.remove(at: $0).continuation }
            }
            waiting?.resume()
        }
    }

    var isFull: Bool { state.withLock { $0.isFull } }

    func end() {
        let (waiting, room) = state.withLock { state in
            state.hasEnded = true
            defer {
                state.waiting = nil
                state.room = []
            }
            return (state.waiting?.continuation, state.room.map(\.continuation))
        }
        waiting?.resume(returning: nil)
        for waiting in room { waiting.resume() }
    }

    func next() async -> SessionEvent? {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (result, room) = state.withLock { state -> (SessionEvent??, [CheckedContinuation<Void, Never>]) in
                    if Task.isCancelled { return (.some(nil), []) }
                    if let event = state.events.first {
                        state.events.removeFirst()
                        if case .received(let bytes, _, _) = event {
                            state.messages -= 1
                            state.bytes -= bytes.count
                        }
                        guard !state.isFull else { return (event, []) }
                        defer { state.room = [] }
                        return (event, state.room.map(\.continuation))
                    }
                    if state.hasEnded || state.waiting != nil { return (.some(nil), []) }
                    state.waiting = (id, continuation)
                    return (nil, [])
                }
                for waiting in room { waiting.resume() }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<SessionEvent?, Never>? in
                guard state.waiting?.id == id else { return nil }
                defer { state.waiting = nil }
                return state.waiting?.continuation
            }
            waiting?.resume(returning: nil)
        }
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }
}

/// Why an operation of a session failed.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added; switch with a `default`.
    public struct Code: Hashable, Sendable {
        let text: String

        /// A message has more than `PeerSession.maximumMessageLength` bytes.
        public static let messageTooLong = Code(text: "message-too-long")
        /// No such peer is there, or it is not connected.
        public static let noSuchPeer = Code(text: "no-such-peer")
        /// The peer was invited and said no.
        public static let declined = Code(text: "declined")
        /// The peer did not answer in time, or its host could not be reached.
        public static let unreachable = Code(text: "unreachable")
        /// One side does not trust the other's key, or speaks no TLS where the other does.
        public static let notTrusted = Code(text: "not-trusted")
        /// The peer's data breaks the protocol.
        public static let malformed = Code(text: "malformed")
        /// The session is over, or the task was cancelled.
        public static let ended = Code(text: "ended")
    }

    /// The kind of error.
    public let code: Code
    /// For people; safe for a terminal.
    public let message: String
    #if TLS
    /// The reason for `.notTrusted`, if this side knows it.
    public private(set) var refusal: PeerRefusal?
    #endif

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    #if TLS
    init(_ refusal: PeerRefusal) {
        self.init(.notTrusted, refusal.description)
        self.refusal = refusal
    }
    #endif

    /// The message.
    public var description: String { message }
}
