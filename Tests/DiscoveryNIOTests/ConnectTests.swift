import DNSSD
import Discovery
import DiscoveryTesting
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import DiscoveryNIO

/// Real sockets on loopback; a simulated network tells where they are.
@Suite("Connections and listeners with SwiftNIO", .timeLimit(.minutes(5)))
struct ConnectTests {
    private let network: LocalNetwork
    private let type: ServiceType

    init() throws {
        // Loopback only: services published here are found here, at 127.0.0.1.
        let engine = try SimulatedNetwork().addMachine("h1", interfaces: [.loopback])
        network = LocalNetwork(engine: engine)
        type = try ServiceType("_witap._tcp")
    }

    private func echo(_ name: String = "tony") async throws -> PublishedListener {
        try await network.listen(try ServiceName(name), type: type) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Echo())
            }
        }
    }

    @Test("a listener publishes the port it got; connecting by its name makes a pipeline that becomes active once")
    func byName() async throws {
        let listener = try await echo()
        #expect(try await listener.established().text == "tony")
        let instance = ServiceInstance(name: try ServiceName("tony"), type: type)
        let greeter = Greeter()
        let (channel, report) = try await network.connect(to: instance) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(greeter)
            }
        }
        #expect(report.winner?.port == listener.port)
        #expect(try await greeter.reply(on: channel) == "hello")
        try await channel.close()
        await listener.close()
        await #expect(throws: DiscoveryError.self) { try await listener.established() }
        await network.shutdown()
    }

    @Test("as a NIOAsyncChannel, to any service of a type and to one that was found; a scoped listener")
    func asynchronous() async throws {
        let name = try ServiceName("tony")
        try await network.withListener(name, type: type) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        } _: { listener, connections in
            _ = try await listener.established()
            async let served: Void = Self.serve(connections, count: 2)
            let service = try await network.resolve(ServiceInstance(name: name, type: type), within: .seconds(5))
            for target in [ConnectTarget.any(type), .service(service)] {
                let (channel, _) = try await network.connect(to: target) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
                let reply = try await channel.executeThenClose { inbound, outbound in
                    try await outbound.write(ByteBuffer(string: "hello"))
                    for try await buffer in inbound { return String(buffer: buffer) }
                    return ""
                }
                #expect(reply == "hello")
            }
            try await served
        }
        await network.shutdown()
    }

    private static func serve(
        _ connections: IncomingConnections<NIOAsyncChannel<ByteBuffer, ByteBuffer>>, count: Int
    ) async throws {
        var left = count
        for await connection in connections {
            try await connection.executeThenClose { inbound, outbound in
                for try await buffer in inbound { try await outbound.write(buffer) }
            }
            left -= 1
            if left == 0 { return }
        }
    }

    @Test("closing the channel withdraws the service")
    func closingWithdraws() async throws {
        let listener = try await echo()
        _ = try await listener.established()
        try await listener.channel.close()
        for await status in listener.publication.updates where status.state == .withdrawn { return }
        Issue.record("the publication ended otherwise")
    }

    @Test(
        "a pipeline built later still gets a server's immediate greeting, and its end",
        arguments: [true, false])
    func serverSpeaksFirst(isHalfClosing: Bool) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let closed = group.next().makePromise(of: Void.self)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.closeFuture.whenComplete { _ in closed.succeed() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Welcome())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try Port(server.localAddress?.port ?? 0)
        let address = try #require(IPAddress("127.0.0.1"))
        let endpoint = Endpoint(address: address, port: port, interface: NetworkInterface(index: 1, name: "lo"))
        let channel = try await NIODialer(group: group).dial(endpoint)
        try await closed.futureResult.get()
        let connection = try await NIODialer.activate(channel) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: isHalfClosing)
                return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let heard = try await connection.executeThenClose { inbound, _ in
            var heard = ByteBuffer()
            for try await buffer in inbound { heard.writeImmutableBuffer(buffer) }
            return String(buffer: heard)
        }
        #expect(heard == "welcome")
        try await server.close()
        await network.shutdown()
    }

    @Test("a failing initializer closes the connection, and its error is thrown")
    func failingInitializer() async throws {
        struct Broken: Error {}
        let listener = try await echo()
        _ = try await listener.established()
        let instance = ServiceInstance(name: try ServiceName("tony"), type: type)
        await #expect(throws: Broken.self) {
            try await network.connect(to: instance) { $0.eventLoop.makeFailedFuture(Broken()) }
        }
        await listener.close()
        await network.shutdown()
    }

    @Test("a port without a listener is refused, and nothing is left behind")
    func refused() async throws {
        let (descriptor, port) = try silentPort()
        defer { close(descriptor) }
        let lo = NetworkInterface(index: 1, name: "lo")
        let endpoint = Endpoint(address: .v4(IPv4Address(bits: 0x7F00_0001)), port: port, interface: lo)
        let service = DiscoveredService(
            instance: ServiceInstance(name: try ServiceName("tony"), type: type), interfaces: [lo], state: .resolved,
            endpoints: [endpoint], isOwn: true)
        await #expect { try await network.connect(to: service) } throws: {
            ($0 as? DiscoveryError)?.code == .unreachable
        }
        await network.shutdown()
    }
}

/// A port of 127.0.0.1 that is bound, so that no one else gets it, but not listening.
private func silentPort() throws -> (descriptor: Int32, port: DNSSD.Port) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    try #require(isBound)
    return (descriptor, try DNSSD.Port(Int(UInt16(bigEndian: address.sin_port))))
}

private final class Echo: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}

/// Says hello when the channel becomes active, and waits for the answer.
private final class Greeter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let replies: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (replies, continuation) = AsyncStream.makeStream() }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "hello")), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

    func reply(on channel: any Channel) async throws -> String {
        for await reply in replies { return reply }
        return ""
    }
}

/// Sends a text and closes.
private final class Welcome: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "welcome")), promise: nil)
        context.close(promise: nil)
    }
}
