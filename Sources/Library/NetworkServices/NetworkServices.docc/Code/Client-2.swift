import DiscoveryNIO
import NIOCore
import NetworkServices

/// Finds a service of the type `_greeting._tcp`, connects to it by its name, and prints what it says.
@main
struct BrowseAndConnect {
    static func main() async throws {
        let network = try LocalNetwork()
        for try await event in network.browse(try ServiceType("_greeting._tcp")) {
            guard case .found(let service) = event else { continue }
            print("found", service.instance)
            let (connection, report) = try await network.connect(to: .service(service)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
            try await connection.executeThenClose { _, _ in }
            print("from", report.winner.map { "\($0)" } ?? "nowhere")
            break
        }
        await network.shutdown()
    }
}
