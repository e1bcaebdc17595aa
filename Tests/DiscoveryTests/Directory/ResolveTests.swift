import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite struct ResolveTests {
    private let time = TestTime()
    private let world = SimulatedNetwork()
    private let publisher: LocalNetwork
    private let browser: LocalNetwork

    init() throws {
        publisher = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        browser = LocalNetwork(engine: try world.addMachine("h2"), time: time)
    }

    private func failure(_ name: String, after duration: Duration) async throws -> DiscoveryError.Code? {
        let instance = try instance(name)
        let task = Task { [browser] () throws(DiscoveryError) in
            try await browser.resolve(instance, within: .seconds(5))
        }
        await time.sleeper(until: time.now + duration)
        time.advance(by: duration)
        switch await task.result {
        case .success(let service):
            Issue.record("found \(service)")
            return nil
        case .failure(let failure):
            let error = try #require(failure as? DiscoveryError)
            #expect(world.openOperations(of: "h2") == 0)
            return error.code
        }
    }

    @Test func everyAddressOfOneService() async throws {
        let service = OfferedService(
            name: try ServiceName("tony"), type: try instance("tony").type, port: try Port(9000))
        try await publisher.withPublished(service) { publication in
            let name = try await publication.established()
            let found = try await browser.resolve(try instance(name.text), within: .seconds(5))
            #expect(found.endpoints.map(\.address) == [try address("10.0.0.1"), try address("fe80::1%2")])
        }
    }

    @Test func whatIsNotThereTakesItsTime() async throws {
        #expect(try await failure("nobody", after: .seconds(5)) == .timedOut)
    }

    @Test func withoutABackendItTakesTwoSeconds() async throws {
        world.stopBackend(of: "h2")
        #expect(try await failure("nobody", after: .seconds(2)) == .backendUnavailable)
    }
}
