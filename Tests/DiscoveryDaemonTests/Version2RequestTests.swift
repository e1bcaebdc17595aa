import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryJSON
import DiscoverySystem
import Testing

@testable import DiscoveryDaemon

/// Requests of `/v2` are those of version 1, and what these answer, rendered.
@Suite struct Version2RequestTests {
    private func request(_ target: String) throws -> ControlRequest {
        try ControlRequest("GET", target: target, body: [], peer: SocketPeer(uid: 0))
    }

    @Test(arguments: [
        ("/v2/services?type=_x._tcp", "/v1/services?type=_x._tcp"),
        ("/v2/services?format=text", "/v1/services?format=text"), ("/v2/types", "/v1/types"),
        ("/v2/publications/7/txt", "/v1/registrations/7/txt"), ("/v2/availability/watch", "/v1/backend/watch"),
        ("/v2/health", "/healthz"), ("/v2/registrations", "/v2/registrations"), ("/v2", "/v2"),
    ])
    func path(_ new: String, _ old: String) throws {
        let made = try #require(Version2Request(try request(new))).old
        let wanted = try request(old)
        #expect(made.path == wanted.path && made.query == wanted.query)
    }

    @Test("version 1 is left alone")
    func old() throws {
        let request = try request("/v1/services")
        #expect(Version2Request(request) == nil)
    }

    @Test("lines that come in pieces, cut anywhere, are whole lines", arguments: [1, 7, 100, 10_000])
    func pieces(_ size: Int) async throws {
        let members = #""name":"é","type":"_x._tcp","domain":"local","interfaces":[]"#
        let service = #"{"v":1,"event":"added","service":{\#(members)}}"#
        let text = Array("\(service)\n\(service)\n{\"v\":1,\"event\":\"settled\"}\n".utf8)
        let pieces = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
        let request = try #require(Version2Request(try request("/v2/services?format=lines")))
        let answer = request.rendered(.pieces(status: 200, type: "application/x-ndjson", Pieces(pieces)))
        guard case .pieces(200, "application/x-ndjson", let source) = answer else {
            Issue.record("\(answer)")
            return
        }
        var bytes: [UInt8] = []
        while let piece = await source.next() { bytes += piece }
        let line = #"{"v":2,"event":"added","service":{\#(members)}}"#
        let wanted = "\(line)\n\(line)\n{\"v\":2,\"event\":\"complete\"}\n"
        #expect(String(decoding: bytes, as: UTF8.self) == wanted)
    }

    @Test("an error has its HTTP status")
    func errors() throws {
        for target in ["/v2/types", "/v2/services"] {
            let request = try #require(Version2Request(try request(target)))
            let error = request.rendered(.error(ControlError(400, "invalid-request", "no")))
            #expect(body(error) == #"{"v":2,"error":{"code":"invalid-request","status":400,"message":"no"}}"# + "\n")
        }
    }

    @Test(
        "services are one object, which says whether it is complete, and why not",
        arguments: [
            (true, nil, #""complete":true"#), (false, nil, #""complete":false"#),
            (true, "many", #""complete":false,"reason":"many""#),
        ] as [(Bool, String?, String)])
    func services(_ isSettled: Bool, _ degraded: String?, _ end: String) throws {
        let service = DiscoveredService(
            instance: ServiceInstance(name: try ServiceName("é"), type: try ServiceType("_x._tcp")))
        let member = #"{"name":"é","type":"_x._tcp","domain":"local","interfaces":[]}"#
        let lists: [([DiscoveredService], String)] = [([], ""), ([service, service], "\(member),\(member)")]
        for (services, text) in lists {
            let state = QueryFeed.Snapshot(
                services: services, isSettled: isSettled, backend: .available, degraded: degraded, head: 0)
            let pieces = ControlResponder.pieces(services, state, .identity, .json, .two)
            let bytes = try #require(pieces.whole(atMost: 1000))
            #expect(String(decoding: bytes, as: UTF8.self) == "{\"v\":2,\"services\":[\(text)],\(end)}\n")
        }
        // It is not rendered once more.
        let request = try #require(Version2Request(try request("/v2/services")))
        let whole = ControlAnswer.whole(status: 200, type: "application/json", body: Array("as it is".utf8))
        #expect(body(request.rendered(whole)) == "as it is")
    }

    private func body(_ answer: ControlAnswer) -> String {
        guard case .whole(_, "application/json", let body, _) = answer else { return "\(answer)" }
        return String(decoding: body, as: UTF8.self)
    }
}

private final class Pieces: LineSource {
    private let rest: Locked<[[UInt8]]>

    init(_ pieces: [[UInt8]]) { rest = Locked(pieces) }

    func next() async -> [UInt8]? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
