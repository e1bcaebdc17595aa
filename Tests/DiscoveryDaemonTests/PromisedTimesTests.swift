import DNSSD
import Discovery
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Testing

@Suite struct PromisedTimesTests {
    private let network = SimulatedNetwork()

    @Test("for a name that a warm type does not have no one is asked, with an interface and a family as well")
    func absent() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let one = other.publish(try OfferedService(name: "one", type: "_xx._tcp", port: 1))
        _ = try await one.established()
        let daemon = try await TestDaemon(
            engine: try network.addMachine("h2"), browse: [try ServiceType("_xx._tcp")])
        func count(_ filter: String) async throws -> Int? {
            try await daemon.get("/v1/services?type=_xx._tcp\(filter)")["services"]?.array?.count
        }
        #expect(try await count("") == 1)
        for filter in ["", "&interface=eth0", "&family=ipv4", "&interface=eth0&family=ipv6"] {
            #expect(try await count("&name=absent\(filter)") == 0)
        }
        #expect(daemon.daemon.warm.contents.count == 1)
        #expect(try await count("&name=one&interface=eth0") == 1)
        #expect(try await count("&name=one&interface=nosuch0") == 0)
        await one.withdraw()
        await daemon.stopAndRemove()
    }

    /// Never says anything, as a backend that hangs.
    private struct Silent: ServicePublisher {
        func publishes(in domain: Domain) -> Bool { true }

        func publish(
            _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
            reporting: @escaping @Sendable (PublicationFact) -> Void
        ) -> any PublicationOperation { SingleReport {} }

        func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
            SingleReport { reporting(.up) }
        }

        func shutdown() async -> Bool { true }
    }

    @Test("what is neither taken nor refused says so after some seconds", .timeLimit(.minutes(5)))
    func silent() async throws {
        let engine = EngineRouter(finders: [try network.addMachine("h1")], publishers: [Silent()])
        let daemon = try await TestDaemon(engine: engine)
        let lines = await Lines(daemon.path, "/v1/registrations?attached=1", body: #"{"name":"a","port":7}"#)
        #expect(try await lines.next { _ in true }["reason"]?.string == nil)
        let told = try await lines.next { $0["reason"]?.string != nil }
        #expect(told["state"]?.string == "registering")
        #expect(told["reason"]?.string == "what publishes on the link has neither taken nor refused it for 3 s")
        lines.close()
        await daemon.stopAndRemove()
    }
}
