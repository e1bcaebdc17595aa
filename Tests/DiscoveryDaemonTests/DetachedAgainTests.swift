import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Testing

@Suite struct DetachedAgainTests {
    private let network = SimulatedNetwork()

    @Test(
        "what is detached once more with another TXT record, port, check or policy is what it was, changed, and no second one"
    )
    func detachedAgain() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let other = try await TestDaemon(engine: try network.addMachine("h2"), browse: [try ServiceType("_witap._tcp")])
        func post(_ members: String) async throws -> JSONValue {
            try JSONReader.read(await daemon.post("/v1/registrations", "{\"name\":\"a\",\(members)}"))
        }
        let stream = await Lines(other.path, "/v1/services/watch?type=_witap._tcp")
        let id = try #require(try await post(#""port":7,"txt":{"k":"v"}"#)["id"]?.string)
        _ = try await stream.next { $0["event"]?.string == "added" }
        func seen() async throws -> JSONValue { try await stream.next { $0["event"]?.string != "settled" } }

        let text = try await post(#""port":7,"txt":{"k":"w"},"onConflict":"fail""#)
        #expect(text["id"]?.string == id && text["name"]?.string == "a" && text["state"]?.string == "established")
        #expect(text["changed"]?["txt"]?["old"]?["k"]?.string == "v" && text["changed"]?["port"] == nil)
        let first = try await seen()
        #expect(first["event"]?.string == "updated" && first["service"]?["txt"]?["k"]?.string == "w", "\(first)")

        let port = try await post(#""port":8,"txt":{"k":"w"}"#)
        #expect(port["id"]?.string == id && port["changed"]?["port"]?["new"]?.integer == 8)
        let second = try await seen()
        #expect(second["event"]?.string == "updated" && second["service"]?["port"]?.integer == 8, "\(second)")

        // The check has not said anything yet, and nothing has said that it does not work.
        let check = try await post(#""port":8,"txt":{"k":"w"},"check":"tcp""#)
        #expect(check["changed"]?["check"]?["old"] == .null && check["changed"]?["check"]?["new"]?.string == "tcp")
        #expect(check["id"]?.string == id && check["state"]?.string == "established")
        #expect(try await post(#""port":8,"txt":{"k":"w"},"check":"tcp""#)["changed"] == nil)
        // On other links it is another.
        #expect(try await post(#""port":8,"interfaces":["nosuch*"]"#)["id"]?.string != id)
        await daemon.stop()

        let again = try await TestDaemon(engine: try network.addMachine("h3"), directory: daemon.directory)
        let kept = try await again.get("/v1/registrations")["registrations"]?.array ?? []
        #expect(kept.first?["id"]?.string == id && kept.first?["port"]?.integer == 8 && kept.count == 2)
        await again.stopAndRemove()
        await other.stopAndRemove()
    }

    @Test("another subtype is published anew; another user's, a command's and a renamed one stay as they are")
    func detachedAgainDifferently() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let other = LocalNetwork(engine: try network.addMachine("h2"))
        let taken = other.publish(try OfferedService(name: "taken", type: "_witap._tcp", port: 1))
        _ = try await taken.established()
        func post(_ members: String) async throws -> JSONValue {
            try JSONReader.read(await daemon.post("/v1/registrations", "{\(members)}"))
        }
        let one = try await post(#""name":"a","port":7"#)
        let subtyped = try await post(#""name":"a","port":7,"subtypes":["_xx"]"#)
        #expect(subtyped["id"] == one["id"] && subtyped["name"]?.string == "a")
        #expect(subtyped["changed"]?["subtypes"]?["new"]?.strings == ["_xx"])
        let attached = await Lines(daemon.path, "/v1/registrations?attached=1", body: #"{"name":"a","port":8}"#)
        let running = try await attached.next { $0["state"]?.string == "established" }
        #expect(running["name"]?.string == "a #2")
        let renamed = try await post(#""name":"taken","port":7"#)
        #expect(renamed["name"]?.string == "taken #2")
        let refused = await #expect(throws: ControlError.self) {
            try await post(#""name":"taken","port":8,"onConflict":"fail""#)
        }
        #expect(refused?.status == 409 && refused?.message.contains("taken #2") == true)
        attached.close()
        await taken.withdraw()
        await daemon.stopAndRemove()
    }
}
