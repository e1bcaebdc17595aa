import DNSSD
import Discovery
import DiscoveryGRPC
import DiscoveryTesting
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Testing

@Suite("gRPC by name, with gRPC Swift 2 over SwiftNIO", .timeLimit(.minutes(1)))
struct GRPCTests {
    private let link: Link

    init() throws { link = try Link() }

    private func withServer<Result: Sendable>(
        _ text: String, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
        let server = GRPCServer(transport: transport, services: [Greeter(text: text)])
        async let serving: Void = server.serve()
        let result = try await body(try await transport.listeningAddress.ipv4?.port ?? 0)
        server.beginGracefulShutdown()
        try await serving
        return result
    }

    private func transport(_ target: String, _ policy: AddressPolicy) throws -> HTTP2ClientTransport.Posix {
        try HTTP2ClientTransport.Posix(
            target: .dnssd(target), transportSecurity: .plaintext,
            resolverRegistry: .discovering(on: link.client, policy: policy))
    }

    @Test(arguments: ["dnssd:greeter._grpc._tcp.local", "dnssd:///greeter._grpc._tcp", "dnssd:_grpc._tcp"])
    func aServiceThatMovesIsFollowed(target: String) async throws {
        try await withGRPCClient(transport: try transport(target, link.policy)) { client in
            let first = try await withServer("first") { port in
                let publication = try await link.publish("greeter", "_grpc._tcp", port: port)
                #expect(try await Greeter.hello(client) == "first")
                return publication
            }
            try await withServer("second") { port in
                await first.withdraw()
                let second = try await link.publish("greeter", "_grpc._tcp", port: port)
                #expect(try await eventually { try await Greeter.hello(client) == "second" })
                await second.withdraw()
            }
        }
    }

    @Test("what no policy permits is never handed to gRPC: it is unavailable, with the reason")
    func addressesThatAreRefused() async throws {
        let publication = try await link.publish("greeter", "_grpc._tcp", port: 9)
        let none = AddressPolicy(deny: [try CIDR("0.0.0.0/0"), try CIDR("::/0")])
        let resolver = NameResolvers.ServiceDiscovery(network: link.client, policy: none)
            .resolver(for: try ResolvableTargets.ServiceDiscovery("dnssd:greeter._grpc._tcp.local"))
        let error = await #expect(throws: RPCError.self) {
            for try await result in resolver.names { Issue.record("\(result)") }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.hasSuffix("has no address that may be dialled") == true, "\(error?.message ?? "")")
        await publication.withdraw()
    }

    @Test("the time for the first addresses runs once, whatever is heard meanwhile")
    func theTimeRunsOnce() async throws {
        let time = TestTime()
        let network = LocalNetwork(engine: try SimulatedNetwork().addMachine("client"), time: time)
        let resolver = NameResolvers.ServiceDiscovery(network: network)
            .resolver(for: try ResolvableTargets.ServiceDiscovery("dnssd:_grpc._tcp"))
        var names = resolver.names.makeAsyncIterator()
        // Nobody advances the clock any more: a time that began anew would not end.
        time.advance(by: .seconds(5))
        do {
            _ = try await names.next()
            Issue.record("it has names")
        } catch let error as RPCError {
            #expect(error.code == .unavailable)
        }
    }

    @Test func whatIsNoNameIsRefused() {
        #expect(throws: DiscoveryError.self) { try ResolvableTargets.ServiceDiscovery("dnssd:greeter") }
        #expect(throws: DiscoveryError.self) { try ResolvableTargets.ServiceDiscovery("dnssd:_grpc") }
        // What gRPC calls an authority is no part of the name.
        #expect(throws: DiscoveryError.self) {
            try ResolvableTargets.ServiceDiscovery("dnssd://host/greeter._grpc._tcp")
        }
    }
}

/// A service whose messages are texts.
private struct Greeter: RegistrableRPCService, MessageSerializer, MessageDeserializer {
    static let method = MethodDescriptor(fullyQualifiedService: "Greeter", method: "Hello")

    let text: String

    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.method, deserializer: self, serializer: self) { _, _ in
            StreamingServerResponse(single: ServerResponse(message: text))
        }
    }

    /// - Parameter isPatient: waits for a connection, however long it takes.
    static func hello(_ client: GRPCClient<some ClientTransport>, isPatient: Bool = true) async throws -> String {
        var options = CallOptions.defaults
        options.waitForReady = isPatient
        return try await client.unary(
            request: ClientRequest(message: ""), descriptor: method, serializer: Greeter(text: ""),
            deserializer: Greeter(text: ""), options: options
        ) { try $0.message }
    }
}
