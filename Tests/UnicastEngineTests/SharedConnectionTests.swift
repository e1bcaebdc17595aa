import DNSMessage
import DNSSD
import NIOCore
import Testing

@testable import UnicastEngine

/// Questions that share one connection to a server.
@Suite("Questions on one connection", .timeLimit(.minutes(5))) struct SharedConnectionTests {
    /// A question that came over TCP, and where its answer goes.
    private struct Asked: Sendable {
        let message: Message
        let channel: any Channel
    }

    /// Says over UDP to ask over TCP.
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

    /// Leaves to the test what comes over TCP.
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
        let (questions, continuation) = AsyncStream.makeStream(of: Asked.self)
        let server = try await LoopbackServer(
            ofConnection: { [Questions(continuation)] }, ofDatagrams: { [Truncation()] })
        let address = server.address
        let client = DNSClient()
        var asked = questions.makeAsyncIterator()
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
            waiting.channel.writeAndFlush(try answer.overTCP(), promise: nil)
        }
        #expect(try await second.value.message.id == waiting?.message.id)
        await client.shutdown()
        try await server.close()
    }
}
