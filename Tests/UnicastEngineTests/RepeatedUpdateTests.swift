import DNSMessage
import DNSSD
import DiscoverySystem
import NIOCore
import Testing

@testable import UnicastEngine

/// A server's answer to an update that does not come.
@Suite("An update whose answer is lost", .timeLimit(.minutes(5))) struct RepeatedUpdateTests {
    /// Answers an update with a code; nil: it is silent.
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
            guard let bytes = try? answer.overTCP() else { return }
            context.channel.writeAndFlush(bytes, promise: nil)
        }
    }

    @Test(arguments: [0, 6] as [UInt16]) func itIsSentAgainOverAnotherConnection(code: UInt16) async throws {
        let connections = Locked(0)
        // The first connection is silent.
        let server = try await LoopbackServer(ofConnection: {
            let number = connections.withLock { count in
                count += 1
                return count
            }
            return [Answer(code: number == 1 ? nil : code)]
        })
        let client = DNSClient()
        let update = Message.update(zone: name("example.org"), changes: [])
        let answer = try await client.update(update, at: server.address, key: nil)
        #expect(answer.responseCode == code && answer.isRepeated)
        await client.shutdown()
        try await server.close()
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
