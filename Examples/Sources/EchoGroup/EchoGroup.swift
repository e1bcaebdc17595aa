import DiscoveryLifecycle
import DiscoveryNIO
import Logging
import NIOCore
import NetworkServices
import ServiceLifecycle
import UnixSignals

/// A SwiftNIO server in a `ServiceGroup`, published while it listens; SIGTERM sends the goodbyes before it stops.
@main
struct EchoGroup: Service {
    let server: ServerConnections<NIOAsyncChannel<ByteBuffer, ByteBuffer>>

    func run() async throws {
        try await server.executeThenClose { connections in
            for try await connection in connections.cancelOnGracefulShutdown() {
                try? await connection.executeThenClose { inbound, outbound in
                    for try await buffer in inbound { try await outbound.write(buffer) }
                }
            }
        }
    }

    static func main() async throws {
        let server = try await ServerSocket.listen { channel in
            // Who has ended its side still hears the echo.
            channel.setOption(.allowRemoteHalfClosure, value: true).flatMapThrowing {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let network = try LocalNetwork()
        let echo = try OfferedService(name: "echo", type: "_echo._tcp", port: server.channel.localAddress?.port ?? 0)
        let advertised = AdvertisedService(
            echo, on: network, whileHealthy: HealthCheck { server.channel.isActive })
        try await ServiceGroup(
            services: [network, EchoGroup(server: server), advertised],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "echo")
        ).run()
    }
}
