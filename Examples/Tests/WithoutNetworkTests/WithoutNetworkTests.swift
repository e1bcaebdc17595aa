import DNSSD
import Discovery
import DiscoveryTesting
import Testing

/// What a program does with the network, tested without one: machines and their link are simulated, and the test turns the clock.
@Suite struct WithoutNetworkTests {
    @Test func aServiceIsFoundAndLost() async throws {
        let (link, time) = (SimulatedNetwork(delivery: .byHand), TestTime())
        let server = LocalNetwork(engine: try link.addMachine("server"), time: time)
        let client = LocalNetwork(engine: try link.addMachine("client"), time: time)

        let publication = server.publish(try OfferedService(name: "shop", type: "_http._tcp", port: 8080))
        link.deliver()
        var events = client.browse(try ServiceType("_http._tcp")).makeAsyncIterator()
        link.deliver()
        #expect(try await events.next() == .backend(.available))
        guard case .found(let shop) = try await events.next() else {
            Issue.record("nothing was found")
            return
        }
        #expect(shop.port?.rawValue == 8080 && shop.endpoints.count == 2)
        #expect(try await events.next() == .settled)

        await publication.withdraw()
        link.deliver()
        // An end is held back for a while: a restart is none.
        time.advance(by: .seconds(4))
        #expect(try await events.next() == .lost(shop))
    }
}
