import DNSMessage
import DNSSD
import NIOCore
import NIOPosix
import Testing

@testable import UnicastEngine

/// Questions that share one connection to a server.
@Suite("Questions on one connection", .timeLimit(.minutes(5))) struct SharedConnectionTests {
    /// A question that came over TCP, and where its answer goes.
    private struct Asked: Sendable {
        let message: Message
        let channel: any Channel
    }

    /// Says over UDP to ask over TCP, on loopback, and leaves what comes there to the test.
    private struct Server {
        let address: ServerAddress
        let asked: AsyncStream<Asked>
        private let listener: any Channel
        private let datagrams: any Channel

        init() async throws {
            let (asked, continuation) = AsyncStream.makeStream(of: Asked.self)
            self.asked = asked
            let group = MultiThreadedEventLoopGroup.singleton
            listener = try await ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Questions(continuation))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(listener.localAddress?.port)
            datagrams = try await DatagramBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(Truncation()) }
                .bind(host: "127.0.0.1", port: port).get()
            address = ServerAddress(try #require(IPAddress("127.0.0.1")), port: try Port(port))
        }

        func close() async throws {
            try await datagrams.close()
            try await listener.close()
        }
    }

    private final class Truncation: ChannelInboundHandler, Sendable {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            guard let asked = try? Message(reading: Array(envelope.data.readableBytesView)) else { return }
            let answer = Message(id: asked.id, flags: [.response, .truncated], questions: asked.questions)
            guard let bytes = try? answer.written(compression: .unicast) else { return }
            context.channel.writeAndFlush(
                AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    private final class Questions: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let asked: AsyncStream<Asked>.Continuation
        private var rest = ByteBuffer()

        init(_ asked: AsyncStream<Asked>.Continuation) { self.asked = asked }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var read = unwrapInboundIn(data)
            rest.writeBuffer(&read)
            while let length = rest.getInteger(at: rest.readerIndex, as: UInt16.self),
                let bytes = rest.getBytes(at: rest.readerIndex + 2, length: Int(length))
            {
                rest.moveReaderIndex(forwardBy: 2 + Int(length))
                guard let message = try? Message(reading: bytes) else { continue }
                asked.yield(Asked(message: message, channel: context.channel))
            }
        }
    }

    @Test func oneThatIsGivenUpLeavesTheConnectionToTheOthers() async throws {
        let server = try await Server()
        let address = server.address
        let client = DNSClient()
        var asked = server.asked.makeAsyncIterator()
        let first = Task { try await client.ask(Question(name("a.example.org"), .a), of: .server(address)) }
        _ = await asked.next()
        let second = Task { try await client.ask(Question(name("b.example.org"), .a), of: .server(address)) }
        let waiting = await asked.next()
        // So long that a server without an answer counts as silent.
        try await Task.sleep(for: .milliseconds(1200))
        first.cancel()
        await #expect(throws: DNSFailure.self) { try await first.value }
        if let waiting {
            let answer = Message(id: waiting.message.id, flags: [.response], questions: waiting.message.questions)
            let bytes = try answer.written(compression: .unicast)
            var buffer = ByteBuffer(integer: UInt16(bytes.count))
            buffer.writeBytes(bytes)
            waiting.channel.writeAndFlush(buffer, promise: nil)
        }
        #expect(try await second.value.message.id == waiting?.message.id)
        await client.shutdown()
        try await server.close()
    }
}
