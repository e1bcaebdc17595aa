import DNSSD
import Discovery
import DiscoveryNIO
import DiscoveryTesting
import NIOCore
import NIOPosix
import Testing

/// A listener for one connection, over real sockets on loopback.
@Suite("A listener for one", .timeLimit(.minutes(1)))
struct ListenForOneTests {
    private typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private let network: LocalNetwork
    private let type: ServiceType
    private let name: ServiceName

    init() throws {
        network = LocalNetwork(engine: try SimulatedNetwork().addMachine("h1", interfaces: [.loopback]))
        type = try ServiceType("_witap._tcp")
        name = try ServiceName("tony")
    }

    @Sendable private static func wire(_ channel: any Channel) -> EventLoopFuture<Wire> {
        channel.eventLoop.makeCompletedFuture { try Wire(wrappingChannelSynchronously: channel) }
    }

    private func dial(_ port: Port) async throws -> Wire {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: Int(port.rawValue), channelInitializer: Self.wire)
    }

    @Test(
        "the first connection is given, with what was sent before it was asked for; the service is withdrawn; fifty times"
    )
    func first() async throws {
        for _ in 0..<50 {
            let listener = try await network.listenForOne(name, type: type, initializer: Self.wire)
            _ = try await listener.publication.established()
            let client = try await dial(listener.listener.port)
            try await client.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "hello"))
                let server = try await listener.connection()
                try await server.executeThenClose { inbound, outbound in
                    var iterator = inbound.makeAsyncIterator()
                    #expect(try await iterator.next().map { String(buffer: $0) } == "hello")
                    try await outbound.write(ByteBuffer(string: "yes"))
                }
                var iterator = inbound.makeAsyncIterator()
                #expect(try await iterator.next().map { String(buffer: $0) } == "yes")
            }
            for await status in listener.publication.updates where status.state == .withdrawn { break }
            #expect(await listener.close() == nil)
        }
    }

    @Test("others are closed without a byte, whether before or after the first is taken")
    func others() async throws {
        let listener = try await network.listenForOne(name, type: type, initializer: Self.wire)
        let port = listener.listener.port
        let first = try await dial(port)
        try await first.executeThenClose { _, _ in
            for _ in 0..<5 {
                // Refused at once, or accepted by the system and closed.
                guard let other = try? await dial(port) else { continue }
                try await other.executeThenClose { inbound, _ in
                    do {
                        for try await _ in inbound { Issue.record("a byte") }
                    } catch is IOError {}
                }
            }
            let server = try await listener.connection()
            try await server.executeThenClose { _, _ in }
        }
        _ = await listener.close()
    }

    @Test("closing gives the connection that nobody waited for, or ends who waits; so does cancelling")
    func closing() async throws {
        let listener = try await network.listenForOne(name, type: type, initializer: Self.wire)
        let waiter = Task { try await listener.connection() }
        #expect(await listener.close() == nil)
        await #expect(throws: DiscoveryError.self) { _ = try await waiter.value }

        let second = try await network.listenForOne(name, type: type, initializer: Self.wire)
        let cancelled = Task { try await second.connection() }
        cancelled.cancel()
        await #expect(throws: DiscoveryError.self) { _ = try await cancelled.value }
        let client = try await dial(second.listener.port)
        try await client.executeThenClose { inbound, _ in
            // The listener closes itself when somebody has come.
            try await second.listener.channel.closeFuture.get()
            let unclaimed = await second.close()
            try await unclaimed?.executeThenClose { _, outbound in try await outbound.write(ByteBuffer(string: "hello"))
            }
            var iterator = inbound.makeAsyncIterator()
            #expect(try await iterator.next().map { String(buffer: $0) } == "hello")
        }
    }
}
