import AsyncHTTPClient
import DiscoveryHTTPClient
import NIOCore
import NIOHTTP1
import NetworkServices

/// `HTTPByName NAME [PATH]`: a request to the web server of that name, wherever it is.
@main
struct HTTPByName {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let name = try ServiceName(arguments.first ?? "shop")
        let shop = ServiceInstance(name: name, type: try ServiceType("_http._tcp"))
        let network = try LocalNetwork()
        let client = ServiceHTTPClient(network: network)
        do {
            let request = HTTPClientRequest(url: arguments.dropFirst().first ?? "/")
            let response = try await client.execute(request, on: .instance(shop))
            let body = try await response.body.collect(upTo: 1024 * 1024)
            print(response.status.code, String(buffer: body).escapedForTerminal)
        } catch {
            print("error: \(error)")
        }
        try await client.shutdown()
        await network.shutdown()
    }
}
