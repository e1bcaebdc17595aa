import DiscoveryGRPC
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NetworkServices

/// Calls the method of `GRPCGreeter` by the name of the service, wherever it is. Its messages are texts.
@main
struct GRPCByName: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    static func main() async throws {
        let network = try LocalNetwork()
        let transport = try HTTP2ClientTransport.Posix(
            target: .dnssd("dnssd:greeter._grpc._tcp.local"), transportSecurity: .plaintext,
            resolverRegistry: .discovering(on: network))
        try await withGRPCClient(transport: transport) { client in
            let answer = try await client.unary(
                request: ClientRequest(message: "you"),
                descriptor: MethodDescriptor(fullyQualifiedService: "Greeter", method: "Hello"),
                serializer: GRPCByName(), deserializer: GRPCByName(), options: .defaults
            ) { try $0.message }
            print(answer.escapedForTerminal)
        }
        await network.shutdown()
    }
}
