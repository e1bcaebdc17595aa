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
        ("/v2/services?type=_x._tcp", "/v1/services?type=_x._tcp&format=lines"),
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

    @Test("a list that comes in pieces, cut anywhere, is one object", arguments: [1, 7, 100, 10_000])
    func pieces(_ size: Int) async throws {
        let members = #""name":"é","type":"_x._tcp","domain":"local","interfaces":[]"#
        let service = #"{"v":1,"event":"added","service":{\#(members)}}"#
        let text = Array("\(service)\n\(service)\n{\"v\":1,\"event\":\"settled\"}\n".utf8)
        let pieces = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
        let request = try #require(Version2Request(try request("/v2/services")))
        let answer = request.rendered(.pieces(status: 200, type: "application/x-ndjson", Pieces(pieces)))
        guard case .pieces(200, "application/json", let source) = answer else {
            Issue.record("\(answer)")
            return
        }
        var bytes: [UInt8] = []
        while let piece = await source.next() { bytes += piece }
        let list = try JSONReader.read(bytes)
        #expect(list["v"]?.integer == 2 && list["complete"]?.bool == true)
        #expect(list["services"]?.array?.map { $0["name"]?.string } == ["é", "é"])
    }

    @Test("an error has its HTTP status; a list that lacks something says so")
    func objects() throws {
        let types = try #require(Version2Request(try request("/v2/types")))
        let error = types.rendered(.error(ControlError(400, "invalid-request", "no")))
        #expect(body(error) == #"{"v":2,"error":{"code":"invalid-request","status":400,"message":"no"}}"# + "\n")
        let services = try #require(Version2Request(try request("/v2/services")))
        let lines = Array(#"{"v":1,"event":"degraded","reason":"many"}"#.utf8)
        let list = services.rendered(.whole(status: 200, type: "application/x-ndjson", body: lines))
        #expect(body(list) == #"{"v":2,"services":[],"complete":false,"reason":"many"}"# + "\n")
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
