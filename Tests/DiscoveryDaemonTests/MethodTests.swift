import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Foundation
import Testing

/// RFC 9110 §9.3.2 and §15.5.6: HEAD, and the answer to methods that are not allowed.
@Suite struct MethodTests {
    private let network = SimulatedNetwork()

    /// Sends requests on one connection, the last of which closes it, and returns all answers.
    private func exchange(_ daemon: TestDaemon, _ requests: String...) async throws -> String {
        let client = try RawClient(daemon.path)
        for (number, request) in requests.enumerated() {
            let end = number == requests.count - 1 ? "Connection: close\r\n\r\n" : "\r\n"
            await client.write("\(request) HTTP/1.1\r\nHost: x\r\n\(end)")
        }
        return await client.readAll()
    }

    @Test(arguments: [
        ("PUT /v1/status", "GET, HEAD"), ("DELETE /v1/services", "GET, HEAD"), ("POST /metrics", "GET, HEAD"),
        ("GET /v1/reload", "POST"), ("HEAD /v1/reload", "POST"), ("PATCH /v1/registrations", "GET, HEAD, POST"),
        ("POST /v1/registrations/x", "GET, HEAD, DELETE"), ("HEAD /v1/services/watch", "GET"),
    ]) func whatIsNotPossibleIsToldWithWhatIs(_ request: String, _ allow: String) async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let answer = try await exchange(daemon, request)
        #expect(answer.hasPrefix("HTTP/1.1 405"))
        #expect(answer.split(separator: "\r\n").contains("Allow: \(allow)"), "\(answer)")
        #expect(daemon.daemon.warm.contents.isEmpty, "nothing is asked for nobody")
        await daemon.stopAndRemove()
    }

    @Test func headIsGetWithoutItsBody() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h2"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        // Longer than what is sent at once, so its length is unknown until its end.
        let txt = TXTRecord(strings: (0..<36).map { Array("k\($0)=\(String(repeating: "x", count: 240))".utf8) })
        var publications: [Publication] = []
        for number in 0..<16 {
            publications.append(
                other.publish(try OfferedService(name: "s\(number)", type: "_xx._tcp", port: 1, txt: txt)))
        }
        for publication in publications { _ = try await publication.established() }
        for target in ["/v1/ping", "/v1/registrations", "/v1/services?type=_xx._tcp", "/v1/nothing"] {
            let client = try RawClient(daemon.path)
            await client.write("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            var reader = HTTPResponseReader()
            var got: [UInt8] = []
            while let bytes = await client.read(), !bytes.isEmpty {
                try reader.received(bytes)
                got += reader.takeBody()
            }
            // A second answer on the same connection: any bytes after the first head would be taken for its beginning.
            let answers = try await exchange(daemon, "HEAD \(target)", "GET /v1/ping")
            let parts = answers.components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 3 && parts.last == "{\"v\":1}\n", "\(target): \(answers.suffix(300))")
            let head = parts[0].components(separatedBy: "\r\n")
            #expect(head.first?.hasPrefix("HTTP/1.1 \(reader.status ?? 0)") == true)
            #expect(head.contains("Content-Length: \(got.count)") && head.contains("Content-Type: application/json"))
        }
        withExtendedLifetime(publications) {}
        await daemon.stopAndRemove()
    }
}
