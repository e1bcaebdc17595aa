import DNSMessage
import DNSSD
import DiscoverySystem
import NIOCore
import NIOPosix
import Testing

@testable import UnicastEngine

/// A server's answer to an update that does not come.
@Suite("An update whose answer is lost", .timeLimit(.minutes(5))) struct RepeatedUpdateTests {
    /// Takes connections on loopback, keeps the first silent, and answers an update on any other with a code.
    private struct Server {
        let address: ServerAddress
        let listener: any Channel

        init(code: UInt16) async throws {
            let connections = Locked(0)
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    let number = connections.withLock { count in
                        count += 1
                        return count
                    }
                    return channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Answer(code: number == 1 ? nil : code))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(listener.localAddress?.port)
            address = ServerAddress(try #require(IPAddress("127.0.0.1")), port: try Port(port))
        }
    }

    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let code: UInt16?

        init(code: UInt16?) { self.code = code }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            guard let code, buffer.readInteger(as: UInt16.self) != nil,
                let update = try? Message(reading: buffer.readBytes(length: buffer.readableBytes) ?? [])
            else { return }
            var answer = Message(id: update.id, flags: Message.Flags(rawValue: 0xA800 | code))
            answer.questions = update.questions
            guard let bytes = try? answer.written(compression: .unicast) else { return }
            var written = context.channel.allocator.buffer(capacity: bytes.count + 2)
            written.writeInteger(UInt16(truncatingIfNeeded: bytes.count))
            written.writeBytes(bytes)
            context.channel.writeAndFlush(written, promise: nil)
        }
    }

    @Test(arguments: [0, 6] as [UInt16]) func itIsSentAgainOverAnotherConnection(code: UInt16) async throws {
        let server = try await Server(code: code)
        let client = DNSClient()
        let update = Message.update(zone: name("example.org"), changes: [])
        let answer = try await client.update(update, at: server.address, key: nil)
        #expect(answer.responseCode == code && answer.isRepeated)
        await client.shutdown()
        try await server.listener.close()
    }

    @Test(arguments: [3, 6, 7, 8] as [UInt16]) func aConditionThatFailsThenProvesNothing(code: UInt16) {
        let context = UpdateContext(zone: "example.org", server: "10.0.0.1", key: "pub")
        var answer = UpdateAnswer(responseCode: code)
        let once = context.outcome(of: answer, subject: "web", clock: 0)
        #expect([.notAsRequired, .nameInUse, .recordsExist].contains(once))
        answer.isRepeated = true
        guard case .unheard = context.outcome(of: answer, subject: "web", clock: 0) else {
            Issue.record("\(code)")
            return
        }
        answer.responseCode = 0
        #expect(context.outcome(of: answer, subject: "web", clock: 0) == .done)
    }
}
