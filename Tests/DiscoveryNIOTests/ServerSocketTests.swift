import DNSSD
import DiscoveryNIO
import Glibc
import NIOCore
import NIOPosix
import Testing

/// Real sockets on loopback.
@Suite("Listening without publishing", .timeLimit(.minutes(1)))
struct ServerSocketTests {
    private func wrap(_ channel: any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> {
        channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
    }

    @Test("one socket takes IPv4 and IPv6, at a free port when none is named")
    func both() async throws {
        let server = try await ServerSocket.listen { self.wrap($0) }
        try await server.executeThenClose { connections in
            let port = try #require(server.channel.localAddress?.port)
            #expect(port > 0)
            var connections = connections.makeAsyncIterator()
            for host in ["127.0.0.1", "::1"] {
                let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: host, port: port).get()
                let accepted = try #require(try await connections.next())
                try await accepted.executeThenClose { _, outbound in try await outbound.write(ByteBuffer(string: "x")) }
                // The other side has closed it, perhaps noticed already.
                try? await client.close()
            }
        }
    }

    @Test("a port that is taken is an error")
    func taken() async throws {
        let first = try await ServerSocket.listen(over: .ipv4) { self.wrap($0) }
        try await first.executeThenClose { _ in
            let port = try Port(try #require(first.channel.localAddress?.port))
            let v4 = await #expect(throws: ServerSocket.Failure.self) {
                _ = try await ServerSocket.listen(port: port, over: .ipv4) { self.wrap($0) }
            }
            #expect(v4?.description == "could not bind v4: Address already in use")
            // An IPv6 socket that takes IPv4 wants the same port.
            let both = await #expect(throws: ServerSocket.Failure.self) {
                _ = try await ServerSocket.listen(port: port) { self.wrap($0) }
            }
            #expect(both?.family == .ipv6)
            #expect(both?.errnoCode == EADDRINUSE)
        }
    }
}
