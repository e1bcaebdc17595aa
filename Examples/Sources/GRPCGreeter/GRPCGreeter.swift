import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NetworkServices

/// A gRPC service, published as `greeter._grpc._tcp`. Its messages are texts, without Protocol Buffers.
@main
struct GRPCGreeter: RegistrableRPCService, MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        let hello = MethodDescriptor(fullyQualifiedService: "Greeter", method: "Hello")
        router.registerHandler(forMethod: hello, deserializer: self, serializer: self) { request, _ in
            let caller = try await ServerRequest(stream: request).message
            return StreamingServerResponse(single: ServerResponse(message: "Hello \(caller), from gRPC"))
        }
    }

    static func main() async throws {
        let network = try LocalNetwork()
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv6(host: "::", port: 0), transportSecurity: .plaintext)
        let server = GRPCServer(transport: transport, services: [GRPCGreeter()])
        async let serving: Void = server.serve()
        let port = try await transport.listeningAddress.ipv6?.port ?? 0
        let greeter = network.publish(try OfferedService(name: "greeter", type: "_grpc._tcp", port: port))
        print("published as", try await greeter.established())
        try await serving
        await network.shutdown()
    }
}
