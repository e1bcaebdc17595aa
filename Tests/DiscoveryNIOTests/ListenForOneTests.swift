import DNSSD
import Discovery
import DiscoveryNIO
import DiscoveryTesting
import NIOCore
import NIOPosix
import Testing

/// A listener for a single connection, over real sockets on loopback.
@Suite("A listener for one", .timeLimit(.minutes(5)))
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

    /// With keepalive after a second (TCP_KEEPIDLE, KEEPINTVL and KEEPCNT of <linux/tcp.h>): Linux tells nothing to a client whose handshake ends in
    /// the moment in which the listener closes.
    private func dial(_ port: Port) async throws -> Wire {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.socketOption(.so_keepalive), value: 1)
        return try await [4 as CInt, 5, 6].reduce(bootstrap) {
            $0.channelOption(.tcpOption(.init(rawValue: $1)), value: 1)
        }
        .connect(host: "127.0.0.1", port: Int(port.rawValue), channelInitializer: Self.wire)
    }

    @Test(
        "the first connection is returned, with bytes sent before it was taken, and the service is withdrawn; fifty times"
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

    @Test(
        "of six simultaneous connections one is admitted; the others are refused or closed without a byte; twenty times"
    )
    func others() async throws {
        for _ in 0..<20 {
            let listener = try await network.listenForOne(name, type: type, initializer: Self.wire)
            let port = listener.listener.port
            let heard = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<6 { group.addTask { await hear(port) } }
                let server = try await listener.connection()
                try await server.executeThenClose { _, outbound in
                    try await outbound.write(ByteBuffer(string: "yes"))
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(heard.filter { !$0.isEmpty } == ["yes"])
            _ = await listener.close()
        }
    }

    /// What a connection receives until it ends; empty if it is refused.
    private func hear(_ port: Port) async -> String {
        guard let wire = try? await dial(port) else { return "" }
        var heard = ""
        try? await wire.executeThenClose { inbound, _ in
            for try await buffer in inbound { heard += String(buffer: buffer) }
        }
        return heard
    }

    @Test("closing returns a connection that no one waited for, or ends the wait; so does cancelling")
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
            // The listener closes itself once someone has connected.
            try await second.listener.channel.closeFuture.get()
            let unclaimed = await second.close()
            try await unclaimed?.executeThenClose { _, outbound in try await outbound.write(ByteBuffer(string: "hello"))
            }
            var iterator = inbound.makeAsyncIterator()
            #expect(try await iterator.next().map { String(buffer: $0) } == "hello")
        }
    }
}
