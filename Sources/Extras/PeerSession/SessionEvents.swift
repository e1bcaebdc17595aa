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

        var isFull: Bool { messages >= maximumMessages || bytes >= maximumBytes }
    }

    private let state = Awaited(State())

    func push(_ event: SessionEvent) {
        state.change { state in
            guard !state.hasEnded else { return }
            if state.events.last?.isOutdone(by: event) == true { state.events.removeLast() }
            if case .received(let bytes, _, _) = event {
                state.messages += 1
                state.bytes += bytes.count
            }
            state.events.append(event)
            if state.events.count - state.messages > Self.maximumNews {
                state.events.firstIndex { !$0.isMessage }.map { _ = state.events.remove(at: $0) }
            }
        }
    }

    /// Waits until messages may be pushed.
    func room() async { _ = await state.wait { $0.isFull && !$0.hasEnded ? nil : true } }

    var isFull: Bool { state.value.isFull }

    func end() { state.change { $0.hasEnded = true } }

    func next() async -> SessionEvent? {
        await state.wait { state -> SessionEvent?? in
            guard !state.events.isEmpty else { return state.hasEnded ? .some(nil) : nil }
            let event = state.events.removeFirst()
            if case .received(let bytes, _, _) = event {
                state.messages -= 1
                state.bytes -= bytes.count
            }
            return event
        } ?? nil
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
