import AppSupport
public import DNSSD
import DiscoveryNIO
public import NIOCore

/// A connection to one other program: its incoming bytes, and a way to send.
///
/// Bytes are read no faster than they are consumed. Both the end and the loss of the connection end `bytes`: for a game, they are the same.
public struct ByteLink: Sendable {
    /// The other side's address; nil if unknown.
    public let address: IPAddress?
    /// The address for people: `fe80::1%eth0`.
    public let remote: String
    private let connection: Connection
    private var channel: NIOAsyncChannel<ByteBuffer, ByteBuffer> { connection.channel }

    /// Closes a link that is never used. Dropping an unused `NIOAsyncChannel` traps, and a link can arrive just as the person chooses
    /// something else.
    private final class Connection: Sendable {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

        init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.channel = channel }

        deinit {
            // Unstructured, because no one waits for a forgotten link. Does nothing if it is closed already.
            Task { [channel] in try? await channel.executeThenClose { _, _ in } }
        }
    }

    /// The `initializer:` for `connect` and `listenForOne`.
    public static func make(_ channel: any Channel) -> EventLoopFuture<ByteLink> {
        channel.eventLoop.makeCompletedFuture {
            ByteLink(
                address: channel.remoteAddress.flatMap { IPAddress($0) },
                remote: channel.remoteAddress?.readableHost ?? "?",
                connection: Connection(try NIOAsyncChannel(wrappingChannelSynchronously: channel)))
        }
    }

    /// Lends the connection to `body`, then closes it. Call it exactly once per link.
    public func withBytes<Result>(_ body: (Bytes, Sender) async throws -> Result) async throws -> Result {
        var result: Swift.Result<Result, any Error>?
        do {
            try await channel.executeThenClose { inbound, outbound in
                do {
                    result = .success(try await body(Bytes(inbound: inbound), Sender(outbound: outbound)))
                } catch {
                    result = .failure(error)
                }
            }
        } catch {
            // The other side closed first, or the connection was lost: the body noticed, and has its own result.
            if result == nil { throw error }
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Closes an unwanted link.
    public func refuse() async { try? await withBytes { _, _ in } }

    /// The incoming bytes, in the pieces in which they arrived.
    public struct Bytes: AsyncSequence, Sendable {
        /// A lost connection ends the sequence.
        public typealias Failure = Never
        let inbound: NIOAsyncChannelInboundStream<ByteBuffer>

        /// For use by one task, once.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: inbound.makeAsyncIterator()) }

        /// Iterates over the pieces.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

            /// The next piece; nil at the end, and when the task is cancelled.
            public mutating func next() async -> [UInt8]? {
                await next(isolation: #isolation)
            }

            /// The next piece; nil at the end, and when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> [UInt8]? {
                guard let buffer = try? await iterator.next(isolation: actor) else { return nil }
                return Array(buffer.readableBytesView)
            }
        }
    }

    /// Sends bytes.
    public struct Sender: Sendable {
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        /// Waits until the bytes can be handed on. On a lost connection they are dropped; `bytes` ends then.
        public func send(_ bytes: [UInt8]) async {
            try? await outbound.write(ByteBuffer(bytes: bytes))
        }
    }
}
