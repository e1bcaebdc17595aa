import DNSMessage
import DNSSD
import NIOCore
import NIOPosix
import Testing

@testable import UnicastEngine

/// The sockets of a DNS server on loopback: one port over TCP and UDP. What has no handlers is silent.
struct LoopbackServer: Sendable {
    let address: ServerAddress
    private let listener: any Channel
    private let datagrams: any Channel

    /// - Parameters:
    ///   - ofConnection: makes the handlers of a connection, on its event loop.
    ///   - ofDatagrams: makes those of datagrams.
    init(
        ofConnection: @escaping @Sendable () -> [any ChannelHandler] = { [] },
        ofDatagrams: @escaping @Sendable () -> [any ChannelHandler] = { [] }
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(ofConnection())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        datagrams = try await DatagramBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(ofDatagrams())
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        address = ServerAddress(try #require(IPAddress("127.0.0.1")), port: try Port(port))
    }

    func close() async throws {
        try await datagrams.close()
        try await listener.close()
    }
}

extension Message {
    /// On the wire as over TCP: its length before it.
    func overTCP() throws -> ByteBuffer {
        let bytes = try written(compression: .unicast)
        var buffer = ByteBuffer(integer: UInt16(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }
}
