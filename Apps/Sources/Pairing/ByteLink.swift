import AppSupport
public import DNSSD
import DiscoveryNIO
public import NIOCore

/// A connection to one other program, as the bytes that come and a way to send some.
///
/// Bytes are read no faster than they are consumed. The end and the loss of the connection both end `bytes`: who plays a game
/// makes no difference.
public struct ByteLink: Sendable {
    /// Where the other is; nil when that is not known.
    public let address: IPAddress?
    /// The same for people: `fe80::1%eth0`.
    public let remote: String
    private let connection: Connection
    private var channel: NIOAsyncChannel<ByteBuffer, ByteBuffer> { connection.channel }

    /// A `NIOAsyncChannel` that is dropped unused ends the process, and a link may be: it can come in the moment in which a person
    /// chooses something else.
    private final class Connection: Sendable {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

        init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.channel = channel }

        deinit {
            // Unstructured, because no one waits for a link that is forgotten. Closed already, it does nothing.
            Task { [channel] in try? await channel.executeThenClose { _, _ in } }
        }
    }

    /// For `initializer:` of `connect` and `listenForOne`.
    public static func make(_ channel: any Channel) -> EventLoopFuture<ByteLink> {
        channel.eventLoop.makeCompletedFuture {
            ByteLink(
                address: channel.remoteAddress.flatMap { IPAddress($0) },
                remote: channel.remoteAddress?.readableHost ?? "?",
                connection: Connection(try NIOAsyncChannel(wrappingChannelSynchronously: channel)))
        }
    }

    /// Uses the connection while `body` runs, then closes it. To be called once for every link, because it is what closes it.
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
            // The other side closed it first, or it was lost: the body knows, and has its own result.
            if result == nil { throw error }
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Closes a link that is not wanted.
    public func refuse() async { try? await withBytes { _, _ in } }

    /// What comes, in pieces as they came.
    public struct Bytes: AsyncSequence, Sendable {
        /// A lost connection ends the sequence.
        public typealias Failure = Never
        let inbound: NIOAsyncChannelInboundStream<ByteBuffer>

        /// For one task, once.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: inbound.makeAsyncIterator()) }

        /// Gives the pieces.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

            /// The next piece; nil at the end and when the task is cancelled.
            public mutating func next() async -> [UInt8]? {
                await next(isolation: #isolation)
            }

            /// The next piece; nil at the end and when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> [UInt8]? {
                guard let buffer = try? await iterator.next(isolation: actor) else { return nil }
                return Array(buffer.readableBytesView)
            }
        }
    }

    /// Sends.
    public struct Sender: Sendable {
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        /// Waits until the bytes can be handed on. On a connection that is lost they go nowhere: `bytes` ends then.
        public func send(_ bytes: [UInt8]) async {
            try? await outbound.write(ByteBuffer(bytes: bytes))
        }
    }
}
