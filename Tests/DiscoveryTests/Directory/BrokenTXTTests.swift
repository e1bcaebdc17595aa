import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite("A TXT record that breaks a rule")
struct BrokenTXTTests {
    private let world = SimulatedNetwork(delivery: .byHand)
    private let network: LocalNetwork
    private let long = String(repeating: "x", count: 300)

    init() throws { network = LocalNetwork(engine: try world.addMachine("h1"), time: TestTime()) }

    @Test("is not published", arguments: [false, true])
    func publishing(isPersistent: Bool) async throws {
        let service = try OfferedService(name: "tony", type: "_witap._tcp", port: 9000, txt: ["path": long])
        let publication = network.publish(service, isPersistent: isPersistent)
        let error = await #expect(throws: DiscoveryError.self) { try await publication.established() }
        #expect(error?.code == .invalidTXTRecord)
        #expect(publication.status.state.isFinal && world.openOperations == 0)
        #expect(await publication.withdraw())
        #expect(await network.shutdown())
    }

    @Test("does not replace one that is published")
    func updating() async throws {
        let service = try OfferedService(name: "tony", type: "_witap._tcp", port: 9000, txt: ["path": "/x"])
        let publication = network.publish(service)
        world.deliver()
        _ = try await publication.established()
        #expect(await !publication.update(txt: ["path": long]))
        #expect(publication.service.txt == ["path": "/x"] && publication.status.state == .established)
        #expect(await publication.update(txt: ["path": "/y"]))
        #expect(publication.service.txt["path"] == "/y")
        await publication.withdraw()
        #expect(await !publication.update(txt: ["path": "/z"]))
    }
}
