import DNSSD
import DiscoveryNIO
import Glibc
import NIOCore
import NIOPosix
import Testing

/// Real sockets on loopback.
@Suite("Listening without publishing", .timeLimit(.minutes(5)))
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
                let accepted = try #require(await connections.next())
                try await accepted.executeThenClose { _, outbound in try await outbound.write(ByteBuffer(string: "x")) }
                // The server has closed it, and the client may have noticed already.
                try? await client.close()
            }
        }
    }

    @Test(
        "bytes that arrive before a connection is taken are not lost; connections that no one takes are closed"
    )
    func notTaken() async throws {
        let server = try await ServerSocket.listen { self.wrap($0) }
        let port = try #require(server.channel.localAddress?.port)
        var clients: [any Channel] = []
        try await server.executeThenClose { connections in
            var connections = connections.makeAsyncIterator()
            // More than fit this queue, fewer than fit this and the system's queue.
            for number in 0..<100 {
                let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .connect(host: "127.0.0.1", port: port).get()
                try await client.writeAndFlush(ByteBuffer(string: "early")).get()
                try await client.close(mode: number.isMultiple(of: 3) ? .all : .output).get()
                clients.append(client)
            }
            let accepted = try #require(await connections.next())
            try await accepted.executeThenClose { inbound, _ in
                var text = ""
                for try await buffer in inbound { text += String(buffer: buffer) }
                #expect(text == "early")
            }
        }
        for client in clients { try await client.closeFuture.get() }
    }

    @Test("a connection that came by an interface that is not meant is closed; loopback is one")
    func interfaces() async throws {
        for (pattern, expected) in [("lo", "x"), ("!lo", ""), ("none*", "")] {
            for family in [IPAddress.Family.ipv4, nil] {
                let server = try await ServerSocket.listen(on: try InterfaceFilter([pattern]), over: family) {
                    self.wrap($0)
                }
                let text = try await server.executeThenClose { connections in
                    async let served: Void = {
                        for await connection in connections {
                            try await connection.executeThenClose { _, outbound in
                                try await outbound.write(ByteBuffer(string: "x"))
                            }
                        }
                    }()
                    let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .connect(host: "127.0.0.1", port: try #require(server.channel.localAddress?.port)) {
                            self.wrap($0)
                        }
                    let text = try await client.executeThenClose { inbound, _ in
                        var text = ""
                        // A reset before the first byte counts as closed.
                        do {
                            for try await buffer in inbound { text += String(buffer: buffer) }
                        } catch is IOError {}
                        return text
                    }
                    try await server.channel.close()
                    try await served
                    return text
                }
                #expect(text == expected, "\(pattern)")
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
            // An IPv6 socket that also takes IPv4 wants the same port.
            let both = await #expect(throws: ServerSocket.Failure.self) {
                _ = try await ServerSocket.listen(port: port) { self.wrap($0) }
            }
            #expect(both?.family == .ipv6)
            #expect(both?.errnoCode == EADDRINUSE)
        }
    }
}
