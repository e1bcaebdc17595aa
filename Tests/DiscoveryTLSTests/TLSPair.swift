#if TLS
import DiscoveryTLS
import Foundation
import Glibc
import NIOCore
import NIOPosix
import PeerIdentity
import Testing

/// Two machines with files of their own, and a connection between them over loopback.
struct TLSPair {
    let caller: PeerTLS
    let answerer: PeerTLS

    static func directory() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    static func machine(
        _ label: String, trust: PeerTrust = .known, ask: (@Sendable (PeerTLS.Question) async -> Bool)? = nil
    ) throws -> PeerTLS {
        let directory = try directory()
        return try PeerTLS(
            identity: MachineIdentity(directory: directory, label: label),
            known: KnownPeersFile(path: "\(directory)/known_peers"), trust: trust, ask: ask)
    }

    /// Both know the other.
    static func acquainted(_ name: PeerName) throws -> TLSPair {
        let pair = TLSPair(caller: try machine("caller"), answerer: try machine("answerer"))
        try pair.caller.known.change { $0.add(.init(name, pair.answerer.identity.fingerprint)) }
        try pair.answerer.known.change { $0.add(.init(.label("caller"), pair.caller.identity.fingerprint)) }
        return pair
    }

    /// A person who is asked, and thinks until the question is withdrawn.
    static func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
    }

    /// Dials in, says one byte, and nothing more.
    /// - Returns: what the listener made of it.
    static func oneByte(to listener: PeerTLS) async throws -> Result<PeerTLS.Peer, any Error> {
        let group = MultiThreadedEventLoopGroup.singleton
        let answered = group.next().makePromise(of: PeerTLS.Peer.self)
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            listener.secure(answering: channel).map { PeerTLS.peer(of: channel).cascade(to: answered) }
        }.bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group).connect(to: try #require(server.localAddress)).get()
        // On a busy machine the time may be over before.
        try? await client.writeAndFlush(ByteBuffer(bytes: [22])).get()
        let result = await answered.futureResult.result()
        try? await client.close()
        try await server.close()
        return result
    }

    struct Outcome {
        var calling: Result<PeerTLS.Peer, any Error>
        var answering: Result<PeerTLS.Peer, any Error>
        /// What the answerer's program was given, of what the caller's wrote.
        var received: String
    }

    /// Connects; the caller's program writes `text` as soon as its peer is judged, and ends.
    func connect(to name: PeerName, writing text: String = "hello") async throws -> Outcome {
        let group = MultiThreadedEventLoopGroup.singleton
        let called = group.next().makePromise(of: PeerTLS.Peer.self)
        let answered = group.next().makePromise(of: PeerTLS.Peer.self)
        let sink = Sink(group.next().makePromise(of: String.self))
        let answerer = answerer
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            answerer.secure(answering: channel).map {
                PeerTLS.peer(of: channel).cascade(to: answered)
                try? channel.pipeline.syncOperations.addHandler(sink.handler())
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let caller = caller
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                caller.secure(channel, calling: name).map { PeerTLS.peer(of: channel).cascade(to: called) }
            }.connect(to: address).get()
        let calling = await called.futureResult.result()
        if case .success = calling {
            try? await client.writeAndFlush(ByteBuffer(string: text)).get()
        }
        // Who closes before the other has judged its key has not said anything.
        let answering = await answered.futureResult.result()
        try? await client.close().get()
        let received = try await sink.text.futureResult.get()
        try await server.close().get()
        return Outcome(calling: calling, answering: answering, received: received)
    }

    /// Connects; the caller's connection is reset after `when`.
    /// - Returns: what the answerer made of it.
    func abandoned(
        calling name: PeerName, after when: EventLoopFuture<Void>
    ) async throws -> Result<PeerTLS.Peer, any Error> {
        let group = MultiThreadedEventLoopGroup.singleton
        let answered = group.next().makePromise(of: PeerTLS.Peer.self)
        let answerer = answerer
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            answerer.secure(answering: channel).map { PeerTLS.peer(of: channel).cascade(to: answered) }
        }.bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let caller = caller
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Breaker()) }
                    .flatMap { caller.secure(channel, calling: name) }
            }.connect(to: address).get()
        try await when.get()
        // What closes it resets it.
        let options = try #require(client as? any SocketOptionProvider)
        try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await client.triggerUserOutboundEvent(Breaker.Now()).get()
        let result = await answered.futureResult.result()
        try await server.close().get()
        return result
    }
}

/// Closes a connection before TLS can say goodbye.
private final class Breaker: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny
    struct Now: Sendable {}

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is Now {
            context.close(promise: promise)
        } else {
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }
}

/// Collects what comes to a connection.
final class Sink: Sendable {
    let text: EventLoopPromise<String>

    init(_ text: EventLoopPromise<String>) { self.text = text }

    func handler() -> any ChannelHandler { Handler(text) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let text: EventLoopPromise<String>
        private var bytes = ByteBuffer()

        init(_ text: EventLoopPromise<String>) { self.text = text }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            bytes.writeBuffer(&buffer)
        }

        func handlerRemoved(context: ChannelHandlerContext) { text.succeed(String(buffer: bytes)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension EventLoopFuture where Value: Sendable {
    func result() async -> Result<Value, any Error> {
        do { return .success(try await get()) } catch { return .failure(error) }
    }
}
#endif
