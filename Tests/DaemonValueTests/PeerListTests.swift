import DNSSD
import Discovery
import Testing

@testable import DiscoveryDaemon

/// What other sites may ask, and what they are told.
@Suite struct PeerListTests {
    private let list = PeerList()

    private func answer(_ method: String, _ target: String) throws -> ControlAnswer {
        list.respond(
            try ControlRequest(method, target: target, body: [], peer: SocketPeer(uid: nil), isReadOnly: true))
    }

    private func export(_ name: String, port: Int = 80) throws -> Export {
        let address = try #require(IPAddress("10.1.0.7"))
        return Export(
            service: try OfferedService(name: name, type: "_http._tcp", port: port), linkHost: try HostName("h1.local"),
            addresses: [address])
    }

    @Test(arguments: [
        ("GET", "/v1/ping", 200), ("HEAD", "/v1/ping", 200), ("POST", "/v1/ping", 405), ("GET", "/v1/status", 404),
        ("GET", "/v1/services", 404), ("GET", "/metrics", 404), ("GET", "/healthz", 404), ("GET", "/", 404),
        ("GET", "/v1/types/watch", 404), ("GET", "/v1/backend/watch", 404), ("GET", "/v1/registrations", 404),
        ("POST", "/v1/registrations", 404), ("DELETE", "/v1/registrations/1", 404), ("POST", "/v1/reload", 404),
        ("POST", "/v1/services/unreachable", 404), ("POST", "/v1/services/watch", 405),
        ("HEAD", "/v1/services/watch", 405),
        ("GET", "/v1/services/watch", 200), ("GET", "/v1/services/watch?domain=local&resolve=1", 200),
        ("GET", "/v1/services/watch?view=1", 400), ("GET", "/v1/services/watch?interface=eth1", 400),
        ("GET", "/v1/services/watch?since=1-1-1-1", 400),
    ])
    func servesNothingElse(_ method: String, _ target: String, _ status: Int) throws {
        switch try answer(method, target) {
        case .whole(let answered, _, _, _), .lines(let answered, _), .pieces(let answered, _, _):
            #expect(answered == status)
        }
    }

    @Test(
        "what serves it adds nothing: of version 2 there is nothing here",
        arguments: ["/v2/ping", "/v2/services/watch"])
    func servesNoVersion2(_ target: String) async throws {
        let list = list
        let server = ControlServer(metrics: MetricsRegistry(), log: DaemonLog(write: { _ in })) { list.respond($0) }
        let request = try ControlRequest("GET", target: target, body: [], peer: SocketPeer(uid: nil), isReadOnly: true)
        guard case .whole(404, _, _, _) = await server.respond(request) else {
            Issue.record("\(target) is answered")
            return
        }
        // Nothing listens, so it ends at once.
        try await server.run([])
    }

    @Test func tellsWhatComesChangesAndGoes() async throws {
        guard case .lines(_, let lines) = try answer("GET", "/v1/services/watch") else {
            Issue.record("no lines")
            return
        }
        func next() async -> String { await lines.next().map { String(decoding: $0, as: UTF8.self) } ?? "the end" }
        let tony = list.publish(try export("tony"))
        let first = await next()
        #expect(first.contains(#""event":"added""#) && first.contains(#""address":"10.1.0.7""#), "\(first)")
        #expect(first.contains(#""interfaces":[]"#) && !first.contains(#""interface":"#), "\(first)")
        list.isComplete()
        #expect(await next().contains(#""event":"settled""#))
        tony.change(to: try export("tony", port: 81))
        #expect(await next().contains(#""port":81"#))
        await tony.withdraw(within: .zero)
        #expect(await next().contains(#""event":"removed""#))
        // A daemon that ends, as for a restart, takes nothing back: its services are there.
        let anna = list.publish(try export("anna"))
        #expect(await next().contains("anna"))
        list.end()
        await anna.withdraw(within: .zero)
        #expect(await next() == "the end" && list.count == 1)
    }
}
