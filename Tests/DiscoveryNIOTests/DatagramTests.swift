import DNSSD
import Discovery
import DiscoveryTesting
import NIOCore
import NIOPosix
import Testing

@testable import DiscoveryNIO

/// Real sockets on loopback; a simulated network tells where they are.
@Suite("Datagrams with SwiftNIO", .timeLimit(.minutes(5)))
struct DatagramTests {
    private let network: LocalNetwork
    private let type: ServiceType

    init() throws {
        network = LocalNetwork(engine: try SimulatedNetwork().addMachine("h1", interfaces: [.loopback]))
        type = try ServiceType("_echo._udp")
    }

    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private func connect(_ target: ConnectTarget) async throws -> Client {
        try await network.connectDatagrams(to: target) { channel in
            channel.eventLoop.makeCompletedFuture { try Client(wrappingChannelSynchronously: channel) }
        }.output
    }

    private func echo(on interfaces: InterfaceFilter = .all) async throws -> DatagramListener {
        try await network.listenForDatagrams(try ServiceName("tony"), type: type, on: interfaces) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(EnvelopeEcho()) }
        }
    }

    @Test("found by name; each datagram comes back as one, from the address that was asked")
    func byName() async throws {
        let listener = try await echo()
        #expect(try await listener.established().text == "tony")
        #expect(listener.addresses.contains { $0.isLoopback })
        let client = try await connect(.instance(ServiceInstance(name: try ServiceName("tony"), type: type)))
        let sent = ["one", String(repeating: "x", count: 60_000), "three"]
        let back = try await client.executeThenClose { inbound, outbound in
            var back: [String] = []
            var iterator = inbound.makeAsyncIterator()
            for text in sent {
                try await outbound.write(ByteBuffer(string: text))
                back.append(try await iterator.next().map { String(buffer: $0) } ?? "")
            }
            return back
        }
        #expect(back == sent)
        await listener.close()
        #expect(listener.addresses.isEmpty)
        await network.shutdown()
    }

    @Test("a type _udp has no connections: TCP is neither dialled nor listened to for it")
    func notForTCP() async throws {
        let (name, network, type) = (try ServiceName("tony"), network, type)
        let nothing: @Sendable (any Channel) -> EventLoopFuture<Void> = { $0.eventLoop.makeSucceededVoidFuture() }
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.connect(to: ServiceInstance(name: name, type: type)) },
            { _ = try await network.connect(toAny: type) },
            { _ = try await network.listen(name, type: type, initializer: nothing) },
            { _ = try await network.listenForOne(name, type: type, initializer: nothing) },
            { try await network.withListener(name, type: type, initializer: nothing) { _, _ in } },
        ]
        for call in calls {
            let error = await #expect(throws: DiscoveryError.self) { try await call() }
            #expect(error?.code == .invalidServiceType)
        }
    }

    @Test("when nobody listens any more, the error of the other side's host ends the channel")
    func refused() async throws {
        let listener = try await echo()
        let instance = ServiceInstance(name: try ServiceName("tony"), type: type)
        let service = try await network.resolve(instance, within: .seconds(5))
        await listener.close()
        let client = try await connect(.service(service))
        await #expect(throws: IOError.self) {
            try await client.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "anyone?"))
                for try await _ in inbound {}
            }
        }
        await network.shutdown()
    }

    @Test("interfaces that the filter leaves out have no socket; without any, an error")
    func filter() async throws {
        let listener = try await echo(on: try InterfaceFilter(["lo"]))
        let own = LocalAddresses.system().entries.filter { $0.interface.name == "lo" }.map(\.address)
        #expect(listener.addresses.isSubset(of: own) && !listener.addresses.isEmpty)
        await listener.close()
        await #expect(throws: ServerSocket.Failure.self) { try await echo(on: try InterfaceFilter(["none9"])) }
        await network.shutdown()
    }

    @Test("a port that another has is an error, and leaves no socket")
    func taken() async throws {
        let listener = try await echo()
        await #expect(throws: ServerSocket.Failure.self) {
            try await network.listenForDatagrams(try ServiceName("b"), type: type, port: listener.port) { channel in
                channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        await listener.close()
        await network.shutdown()
    }

    @Test("an address that the policy refuses is not used")
    func policy() async throws {
        let listener = try await echo()
        let instance = ServiceInstance(name: try ServiceName("tony"), type: type)
        _ = try await listener.established()
        let denied = AddressPolicy(deny: [try CIDR("127.0.0.0/8")])
        await #expect(throws: DiscoveryError.self) {
            try await network.connectDatagrams(to: .instance(instance), policy: denied) { channel in
                channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        await listener.close()
        await network.shutdown()
    }
}

private final class EnvelopeEcho: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }
}
