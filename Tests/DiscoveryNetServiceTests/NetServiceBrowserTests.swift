import DNSSD
import Discovery
import DiscoveryNetService
import DiscoveryTesting
import Foundation
import Testing

@MainActor @Suite("NetServiceBrowser", .timeLimit(.minutes(5)))
struct NetServiceBrowserTests {
    private let world = SimulatedNetwork()
    private let time = TestTime()
    private let one: LocalNetwork
    private let two: LocalNetwork
    private let recorder = Recorder()
    private let browser = NetServiceBrowser()

    init() throws {
        one = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        two = LocalNetwork(engine: try world.addMachine("h2"), time: time)
        browser.network = two
        browser.delegate = recorder
    }

    private func publish(_ names: String...) async throws -> [Publication] {
        var publications: [Publication] = []
        for name in names {
            let service = OfferedService(
                name: try ServiceName(name), type: try ServiceType("_tonyipp._tcp"), port: try DNSSD.Port(9000))
            publications.append(one.publish(service))
            _ = try await publications.last?.established()
        }
        return publications
    }

    /// Advances the clock past the library's delay before it reports new or lost services.
    private func pass(_ duration: Duration) async {
        await time.sleeper(until: time.now + duration)
        time.advance(by: duration)
    }

    @Test("a batch has moreComing until its last; removal passes the object that was found; stop is reported")
    func batches() async throws {
        let publications = try await publish("ann", "bob", "tony")
        browser.searchForServices(ofType: "_tonyipp._tcp.", inDomain: "local.")
        #expect(await recorder.words(4) == ["will search", "found ann …", "found bob …", "found tony"])
        let tony = recorder.services[2]
        #expect(tony.type == "_tonyipp._tcp." && tony.domain == "local." && tony.port == -1)
        for publication in publications.dropFirst() { await publication.withdraw() }
        // The simulated network reports in order: once this marker is known, so is the withdrawal.
        let marker = OfferedService(
            name: try ServiceName("marker"), type: try ServiceType("_marker._tcp"), port: try DNSSD.Port(9000))
        let marked = one.publish(marker)
        _ = try await marked.established()
        await pass(.milliseconds(3100))
        #expect(await recorder.words(6).suffix(2) == ["removed bob …", "removed tony"])
        #expect(recorder.removed[1] === tony)
        browser.stop()
        #expect(await recorder.words(7).last == "did stop search")
        browser.stop()
        browser.searchForServices(ofType: "_tonyipp._tcp.", inDomain: "")
        #expect(await recorder.words(8).last == "will search")
        #expect(await recorder.words(9).last == "found ann")
    }

    @Test("after stop() in the middle of a batch, the rest is not reported")
    func stopping() async throws {
        let publications = try await publish("ann", "bob", "tony")
        recorder.told = { [browser] word in if word.hasPrefix("found") { browser.stop() } }
        browser.searchForServices(ofType: "_tonyipp._tcp.", inDomain: "local.")
        #expect(await recorder.words(3) == ["will search", "found ann …", "did stop search"])
        #expect(publications.count == 3)
    }

    @Test("a service that is found is equal to one of the same name, also after its rename; and is resolved")
    func equality() async throws {
        let publications = try await publish("tony")
        let own = NetService(domain: "", type: "_tonyipp._tcp", name: "tony", port: 9001)
        own.network = two
        own.delegate = recorder
        own.publish()
        #expect(await recorder.words(2).last == "did publish tony #2")
        browser.searchForServices(ofType: "_tonyipp._tcp.", inDomain: "local.")
        #expect(await recorder.words(5).suffix(2) == ["found tony …", "found tony #2"])
        #expect(!recorder.services[0].isEqual(own) && recorder.services[1].isEqual(own))
        #expect(recorder.services.firstIndex(of: own) == 1 && Set(recorder.services).contains(own))
        let found = recorder.services[0]
        found.delegate = recorder
        found.resolve(withTimeout: 5)
        #expect(await recorder.words(7).last == "did resolve 9000")
        #expect(publications.count == 1)
    }

    @Test("domains to browse and to register in")
    func domains() async {
        browser.searchForBrowsableDomains()
        #expect(await recorder.words(2) == ["will search", "found domain local."])
        browser.stop()
        _ = await recorder.words(3)
        browser.searchForRegistrationDomains()
        #expect(await recorder.words(5).suffix(2) == ["will search", "found domain local."])
    }

    @Test("a search that cannot be is -72004, a second one -72003, one without a backend -72008 after 5 s")
    func refusals() async throws {
        browser.searchForServices(ofType: "_tonyipp", inDomain: "")
        #expect(await recorder.words(1) == ["did not search 10 -72004"])
        browser.searchForServices(ofType: "_a._tcp", inDomain: "")
        browser.searchForBrowsableDomains()
        #expect(Set(await recorder.words(3).dropFirst()) == ["will search", "did not search 10 -72003"])
        browser.stop()
        _ = await recorder.words(4)
        world.stopBackend(of: "h2")
        browser.searchForServices(ofType: "_b._tcp", inDomain: "")
        _ = await recorder.words(5)
        await pass(.seconds(5))
        #expect(await recorder.words(6).last == "did not search 10 -72008")
        #expect(world.openOperations(of: "h2") == 0)
    }
}
