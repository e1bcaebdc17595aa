import NIOCore
import NIOPosix

@testable import UnicastEngine

/// What a server sends back over TCP for one message, whatever that is.
enum OneAnswer {
    static func over(_ server: ServerAddress, _ message: [UInt8]) async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: SocketAddress(server)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var request = ByteBuffer(integer: UInt16(message.count))
            request.writeBytes(message)
            try await outbound.write(request)
            var read: [UInt8] = []
            for try await buffer in inbound {
                read += Array(buffer.readableBytesView)
                if read.count >= 2, read.count >= 2 + Int(read[0]) << 8 + Int(read[1]) { break }
            }
            return Array(read.dropFirst(2))
        }
    }
}
