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

    private let state = Awaited(State())

    func closes(with server: any Channel) {
        state.change { $0.server = server }
        server.closeFuture.whenComplete { _ in self.end() }
    }

    /// Adds an accepted connection.
    func add(_ channel: any Channel) {
        let isRefused = state.change { state in
            if state.isOver { return true }
            state.waiting.append(channel)
            if state.waiting.count >= Self.room, !state.isPaused { state.pause(true) }
            return false
        }
        if isRefused { channel.close(promise: nil) }
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

    /// Closes the waiting connections: no one takes them any more.
    func end() {
        let waiting = state.change { state in
            defer { state = State(isOver: true) }
            return state.waiting
        }
        for channel in waiting { channel.close(promise: nil) }
    }
}
