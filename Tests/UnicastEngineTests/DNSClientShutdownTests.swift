import DNSMessage
import DNSSD
import NIOCore
import NIOPosix
import Testing

@testable import UnicastEngine

@Suite("DNSClient ends") struct DNSClientShutdownTests {
    /// Takes datagrams and connections on loopback, and says nothing.
    private final class SilentServer {
        let address: ServerAddress
        let asked: AsyncStream<Void>
        private let datagrams: any Channel
        private let listener: any Channel

        init() async throws {
            let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
            self.asked = asked
            let group = MultiThreadedEventLoopGroup.singleton
            listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(listener.localAddress?.port)
            datagrams = try await DatagramBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(Counter(continuation)) }
                .bind(host: "127.0.0.1", port: port).get()
            address = ServerAddress(try #require(IPAddress("127.0.0.1")), port: try Port(port))
        }

        func close() async throws {
            try await datagrams.close()
            try await listener.close()
        }
    }

    private final class Counter: ChannelInboundHandler, Sendable {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        private let continuation: AsyncStream<Void>.Continuation

        init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { continuation.yield() }
    }

    @Test(
        "what is under way, what waits and what comes later has an error, each once", .timeLimit(.minutes(5)))
    func everyQuestionIsAnswered() async throws {
        let server = try await SilentServer()
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
            var asked = server.asked.makeAsyncIterator()
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
