import AsyncHTTPClient
import DNSSD
import Discovery
import DiscoveryHTTPClient
import DiscoveryTesting
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Testing

@Suite("HTTP by name, with async-http-client and a Hummingbird server", .timeLimit(.minutes(1)))
struct HTTPClientTests {
    private let link: Link
    private let shop: ServiceInstance

    init() throws {
        link = try Link()
        shop = try OfferedService(name: "shop", type: "_http._tcp", port: 1).instance
    }

    /// A server that answers with its own text, while `body` runs with its port.
    private func withServer<Result: Sendable>(
        _ text: String, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let router = Router()
        router.get("/") { request, _ in "\(text) for \(request.head.authority ?? "")" }
        router.get("/away") { _, _ in Response.redirect(to: "http://127.0.0.1:1/") }
        let (ports, port) = AsyncStream<Int>.makeStream()
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let app = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: quiet)
        let group = ServiceGroup(services: [app], logger: quiet)
        async let serving: Void = group.run()
        var iterator = ports.makeAsyncIterator()
        let result = try await body(await iterator.next() ?? 0)
        await group.triggerGracefulShutdown()
        try await serving
        return result
    }

    private func withClient(
        _ policy: AddressPolicy, _ body: (ServiceHTTPClient) async throws -> Void
    ) async throws {
        let client = ServiceHTTPClient(network: link.client, policy: policy)
        do { try await body(client) } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func text(_ client: ServiceHTTPClient, _ path: String = "/") async throws -> String {
        let response = try await client.execute(HTTPClientRequest(url: path), on: .instance(shop))
        return "\(response.status.code) \(String(buffer: try await response.body.collect(upTo: 1000)))"
    }

    @Test func aServiceThatMovesIsFollowed() async throws {
        try await withClient(link.policy) { client in
            let first = try await withServer("first") { port in
                let publication = try await link.publish("shop", "_http._tcp", port: port)
                #expect(try await text(client) == "200 first for server.local:\(port)")
                // Remembered, on the same connection.
                #expect(try await text(client) == "200 first for server.local:\(port)")
                return publication
            }
            await first.withdraw()
            try await withServer("second") { port in
                let second = try await link.publish("shop", "_http._tcp", port: port)
                #expect(try await text(client) == "200 second for server.local:\(port)")
                await second.withdraw()
            }
        }
    }

    @Test func whatThePolicyForbidsIsNotDialled() async throws {
        try await withServer("secret") { port in
            let publication = try await link.publish("shop", "_http._tcp", port: port)
            try await withClient(AddressPolicy()) { client in
                let error = await #expect(throws: DiscoveryError.self) { try await text(client) }
                #expect(error?.code == .notPermitted)
            }
            await publication.withdraw()
        }
    }

    @Test func theTimeLimitIsOfFindingTheServiceToo() async throws {
        try await withClient(link.policy) { client in
            let start = ContinuousClock.now
            await #expect(throws: DiscoveryError.self) {
                try await client.execute(HTTPClientRequest(url: "/"), on: .instance(shop), timeout: .milliseconds(300))
            }
            #expect(ContinuousClock.now - start < .seconds(3))
        }
    }

    @Test func aClientThatNobodyEndsStopsNoProgram() async throws {
        await #expect(throws: ServiceHTTPClient.NotAPath.self) {
            try await ServiceHTTPClient(network: link.client).execute(HTTPClientRequest(url: ""), on: .instance(shop))
        }
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try await withServer("shop") { port in
            let publication = try await link.publish("shop", "_http._tcp", port: port)
            try await withClient(link.policy) { client in
                let answer = try await text(client, "/away")
                #expect(answer.hasPrefix("303"))
            }
            await publication.withdraw()
        }
    }

    @Test func onlyPathsAreSent() async throws {
        try await withClient(link.policy) { client in
            for url in ["http://example.org/", "", "@example.org/"] {
                await #expect(throws: ServiceHTTPClient.NotAPath.self) { try await text(client, url) }
            }
        }
    }

    @Test("a kept connection that the server closes under a request: GET is sent again, POST is not")
    func keptConnectionEnds() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AnswersOnce()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let publication = try await link.publish("shop", "_http._tcp", port: server.localAddress?.port ?? 0)
        try await withClient(link.policy) { client in
            for _ in 1...3 {
                let answer = try await text(client)
                #expect(answer == "200 ok")
            }
            var post = HTTPClientRequest(url: "/")
            post.method = .POST
            await #expect(throws: (any Error).self) { try await client.execute(post, on: .instance(shop)) }
        }
        await publication.withdraw()
        try await server.close()
    }
}

/// Answers one request of each connection, and ends it at the next.
private final class AnswersOnce: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var hasAnswered = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if hasAnswered { return context.close(promise: nil) }
        hasAnswered = true
        let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    }
}
