import DNSMessage
import DNSSD
import NIOCore
import Testing

@testable import UnicastEngine

@Suite("DNSClient ends") struct DNSClientShutdownTests {
    /// Counts what comes, and says nothing.
    private final class Counter: ChannelInboundHandler, Sendable {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        private let continuation: AsyncStream<Void>.Continuation

        init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { continuation.yield() }
    }

    @Test(
        "what is under way, what waits and what comes later has an error, each once", .timeLimit(.minutes(5)))
    func everyQuestionIsAnswered() async throws {
        let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = try await LoopbackServer(ofDatagrams: { [Counter(continuation)] })
        let address = server.address
        let client = DNSClient()
        let question = Question(try DomainName(labels: [Array("home".utf8)]), .ptr)
        let failures = try await withThrowingTaskGroup(of: DNSFailure?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(DNSFailure) {
                        if number % 4 == 0 {
                            _ = try await client.update(
                                .update(zone: question.name, changes: []), at: address, key: nil)
                        } else {
                            _ = try await client.ask(question, of: .server(address))
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            // Some are under way, and others wait for their turn.
            var asked = questions.makeAsyncIterator()
            await asked.next()
            await client.shutdown()
            return try await group.reduce(into: [DNSFailure?]()) { $0.append($1) }
        }
        #expect(failures.count == 40 && failures.allSatisfy { $0 != nil })
        #expect(failures.contains(DNSTransport.isClosedFailure), "they were left to their time-outs")
        await #expect(throws: DNSFailure.self) { try await client.ask(question, of: .server(address)) }
        await #expect(throws: DNSFailure.self) {
            try await client.update(.update(zone: question.name, changes: []), at: address, key: nil)
        }
        await client.shutdown()
        try await server.close()
    }
}
