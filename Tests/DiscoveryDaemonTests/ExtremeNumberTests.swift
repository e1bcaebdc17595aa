#if Commands
import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryJSON
import DiscoveryTesting
import Glibc
import Testing

@testable import DiscoveryDaemon
@testable import discoverd_daemon

/// Every number that a client can send, at its extremes, to a daemon with the real rules and checks.
@Suite(.serialized) struct ExtremeNumberTests {
    private let network = SimulatedNetwork()

    private func daemon() async throws -> TestDaemon {
        try await TestDaemon(engine: try network.addMachine("h1"), settings: .unrestricted)
    }

    @Test(arguments: RequestBody.numbers)
    func ofARegistration(_ member: String) async throws {
        let daemon = try await daemon()
        var taken = 0
        for text in ExtremeNumbers.whole + ExtremeNumbers.others {
            do {
                let body = RequestBody(member, text).text
                let answer = try JSONReader.read(try await daemon.post("/v1/registrations?wait=0", body))
                taken += 1
                let id = try #require(answer["id"]?.string)
                _ = try await daemon.client.send(ControlClient.Request("DELETE", "/v1/registrations/\(id)"))
            } catch let error as ControlError {
                #expect(error.status == 400, "\(member) \(text): \(error)")
            }
        }
        #expect(taken > 0)
        #expect(try await daemon.get("/v1/ping")["v"]?.integer == 1)
        await daemon.stopAndRemove()
    }

    @Test func whatIsWithinTheRangeIsKeptToTheMillisecond() async throws {
        for text in ["100", "86400000"] {
            let json = try JSONReader.read(Array(RequestBody("checkIntervalMilliseconds", text).text.utf8))
            let request = try RegistrationRequest(json)
            let check = try #require(request.check)
            let specification = try CheckSpecification(check)
            #expect(specification.interval == .milliseconds(try #require(Int64(text))))
            #expect(RegistrationRequest.Check(specification).intervalMilliseconds == Int(text))
            var writer = JSONWriter()
            writer.request(request)
            #expect(try RegistrationRequest(try JSONReader.read(writer.bytes)) == request)
        }
    }

    @Test(arguments: [
        "/v1/services?type=_xx._tcp&wait=%", "/v1/types?wait=%", "/v1/registrations/%",
        "/v1/services/watch?type=_xx._tcp&since=%-1-1-1", "/v1/services/watch?type=_xx._tcp&since=1-%-1-1",
        "/v1/services/watch?type=_xx._tcp&since=1-1-%-1", "/v1/services/watch?type=_xx._tcp&since=1-1-1-%",
    ]) func ofATarget(_ target: String) async throws {
        let daemon = try await daemon()
        // The client gives up on answers that wait; the daemon survives.
        for text in ExtremeNumbers.all {
            let target = target.replacing("%", with: QueryString.encode(text))
            _ = await Self.status(of: "GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", daemon)
        }
        #expect(try await daemon.get("/v1/ping")["v"]?.integer == 1)
        await daemon.stopAndRemove()
    }

    @Test func ofACursorOfThisLife() async throws {
        let daemon = try await daemon()
        let lines = await Lines(daemon.path, "/v1/services/watch?type=_xx._tcp")
        let cursor = try #require(try await lines.next { $0["event"]?.string == "settled" }["cursor"]?.string)
        let parts = cursor.split(separator: "-").map(String.init)
        for place in 1..<4 {
            for text in ExtremeNumbers.whole {
                var changed = parts
                changed[place] = text
                let target = "/v1/services/watch?type=_xx._tcp&since=\(changed.joined(separator: "-"))"
                _ = await Self.status(of: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n", daemon)
            }
        }
        lines.close()
        #expect(try await daemon.get("/v1/ping")["v"]?.integer == 1)
        await daemon.stopAndRemove()
    }

    @Test func ofALengthAndAChunk() async throws {
        let daemon = try await daemon()
        for text in ExtremeNumbers.all + [
            "7fffffffffffffff", "ffffffffffffffff", "10000000000000000", "-8000000000000000",
        ] {
            for head in ["Content-Length: \(text)\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n\(text)\r\n"] {
                let status = await Self.status(
                    of: "POST /v1/registrations HTTP/1.1\r\nHost: x\r\n\(head){}", daemon)
                #expect(status.map { (400..<500).contains($0) } ?? true, "\(head): \(status ?? 0)")
            }
        }
        #expect(try await daemon.get("/v1/ping")["v"]?.integer == 1)
        await daemon.stopAndRemove()
    }

    @Test func ofTheStateFile() throws {
        let list =
            #"[{"id":"1","uid":<uid>,"request":{"v":<v>,"name":"a","port":<port>,"check":"tcp","#
            + #""checkIntervalMilliseconds":<interval>,"checkTimeoutMilliseconds":1,"rise":<rise>,"fall":1}}]"#
        let places = ["<uid>", "<v>", "<port>", "<interval>", "<rise>"]
        var taken = 0
        for place in places {
            for text in ExtremeNumbers.whole + ExtremeNumbers.others {
                var filled = list
                for other in places {
                    filled.replace(other, with: other == place ? text : "1")
                }
                guard let kept = try? RegistryFile.parse(RegistryFile.sealed(Array(filled.utf8))) else { continue }
                taken += 1
                for one in kept { _ = try? one.request.check.map { try CheckSpecification($0) } }
                #expect(try RegistryFile.parse(RegistryFile.bytes(of: kept)) == kept)
            }
        }
        #expect(taken > 0)
    }

    /// The status of the answer; nil if the daemon closes first, or says nothing for 200 ms.
    private static func status(of request: String, _ daemon: TestDaemon) async -> Int? {
        guard let client = try? RawClient(daemon.path, patience: .milliseconds(200)) else { return nil }
        await client.write(request)
        shutdown(client.descriptor, Int32(SHUT_WR))
        let answer = String(decoding: await client.read(4096) ?? [], as: UTF8.self)
        return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
}

/// The body of a registration, with one number replaced.
struct RequestBody {
    static let numbers = ["port", "checkIntervalMilliseconds", "checkTimeoutMilliseconds", "rise", "fall", "v"]

    let text: String

    init(_ member: String, _ number: String) {
        let members = [
            ("name", #""f""#), ("port", "7"), ("check", #""tcp""#), ("checkIntervalMilliseconds", "1000"),
            ("checkTimeoutMilliseconds", "100"), ("rise", "1"), ("fall", "1"), ("v", "1"),
        ]
        text = "{" + members.map { "\"\($0)\":\($0 == member ? number : $1)" }.joined(separator: ",") + "}"
    }
}

extension Daemon.Settings {
    /// The settings that an empty configuration gives to the user who runs the tests.
    static var unrestricted: Daemon.Settings {
        var configuration = DaemonConfiguration()
        configuration.access.ownUserID = getuid()
        return Daemon.Settings(configuration)
    }
}
#endif
