import Discovery
import DiscoverySystem
public import NIOCore

/// A listening socket whose connections are taken one by one.
public struct ServerConnections<Connection: Sendable>: Sendable {
    /// The listening channel.
    public let channel: any Channel
    let connections: IncomingConnections<Connection>

    /// Lends `body` the connections, then closes the socket and the connections that `body` has not taken.
    /// - Throws: what `body` throws.
    public func executeThenClose<Result>(
        _ body: (IncomingConnections<Connection>) async throws -> Result
    ) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(connections))
        } catch {
            result = .failure(error)
        }
        connections.accepted.end()
        try? await channel.close()
        return try result.get()
    }
}

/// A listener's connections as they arrive. Taking a connection runs the listener's `initializer` for it.
///
/// The sequence ends when the listener is closed or the task is cancelled. For use by one task.
public struct IncomingConnections<Connection: Sendable>: AsyncSequence, Sendable {
    /// What the listener's `initializer` returns.
    public typealias Element = Connection
    /// A connection that fails before it is taken is skipped.
    public typealias Failure = Never

    let accepted: AcceptedChannels
    let initializer: @Sendable (any Channel) -> EventLoopFuture<Connection>

    /// For use by one task.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connections: self) }

    /// Iterates over the connections.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let connections: IncomingConnections

        /// The next connection; nil at the end.
        public mutating func next() async -> Connection? { await next(isolation: #isolation) }

        /// The next connection; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Connection? {
            while let channel = await connections.accepted.next() {
                if let connection = try? await NIODialer.activate(channel, connections.initializer) {
                    return connection
                }
            }
            return nil
        }
    }
}

/// Connections that were accepted but not taken: channels without handlers, which can be closed and dropped. A `NIOAsyncChannel` cannot:
/// dropping an unused one traps.
final class AcceptedChannels: Sendable {
    private struct State {
        var waiting: [any Channel] = []
        var isOver = false
        var server: (any Channel)?
        var isPaused = false

        /// Within the lock, so that the socket sees changes in order.
        mutating func pause(_ isPaused: Bool) {
            guard let server else { return }
            self.isPaused = isPaused
            server.setOption(.autoRead, value: !isPaused).whenComplete { _ in }
        }
    }

    /// How many wait here before more wait in the system's queue.
    private static let room = 64

    private let isForOne: Bool
    private let state = Awaited(State())

    /// - Parameter isForOne: the first connection closes the server, and others that arrive meanwhile are closed.
    init(isForOne: Bool = false) { self.isForOne = isForOne }

    func closes(with server: any Channel) {
        let isOver = state.change { state in
            state.server = server
            return state.isOver
        }
        server.closeFuture.whenComplete { [self] _ in
            // One connection may wait on, after it has closed the server.
            if isForOne { state.change { $0.isOver = true } } else { end() }
        }
        if isOver { server.close(promise: nil) }
    }

    /// Adds an accepted connection.
    func add(_ channel: any Channel) {
        let superfluous = state.change { state -> (any Channel)? in
            if state.isOver { return channel }
            state.waiting.append(channel)
            if isForOne {
                state.isOver = true
                return state.server
            }
            if state.waiting.count >= Self.room, !state.isPaused { state.pause(true) }
            return nil
        }
        superfluous?.close(promise: nil)
    }

    /// The next connection; nil if there are no more, or the task is cancelled.
    func next() async -> (any Channel)? {
        await state.wait { state -> (any Channel)?? in
            guard !state.waiting.isEmpty else { return state.isOver ? .some(nil) : nil }
            let channel = state.waiting.removeFirst()
            if state.isPaused, state.waiting.count <= Self.room / 2 { state.pause(false) }
            return channel
        } ?? nil
    }

    /// The waiting connections, and no more afterwards.
    func takeRest() -> [any Channel] {
        state.change { state in
            defer { state = State(isOver: true) }
            return state.waiting
        }
    }

    /// Closes the waiting connections: no one takes them any more.
    func end() {
        for channel in takeRest() { channel.close(promise: nil) }
    }
}
