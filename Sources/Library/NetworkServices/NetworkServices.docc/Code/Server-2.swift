import DiscoveryNIO
import NIOCore
import NetworkServices

/// Listens on a free port, publishes it as `greeter._greeting._tcp`, greets one caller, and says goodbye.
@main
struct PublishWithNIO {
    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    @Sendable static func connection(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
    }

    static func main() async throws {
        let network = try LocalNetwork()
        let (name, type) = (try ServiceName("greeter"), try ServiceType("_greeting._tcp"))
        try await network.withListener(name, type: type, initializer: connection) { listener, connections in
            print("published as", try await listener.established())
        }
        await network.shutdown()
    }
}
