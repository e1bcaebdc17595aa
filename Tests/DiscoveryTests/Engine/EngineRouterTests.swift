import DNSSD
import DiscoveryTesting
import Testing

@testable import Discovery

@Suite("Several engines as one")
struct EngineRouterTests {
    private let link = SimulatedNetwork()
    private let zone: SimulatedNetwork
    private let home: Domain

    init() throws {
        home = try Domain("home.example.org")
        zone = SimulatedNetwork(domains: [home], isUnicast: true)
    }

    private func router(_ name: String) throws -> LocalNetwork {
        let engines: [any DiscoveryEngine] = [try link.addMachine(name), try zone.addMachine(name)]
        return LocalNetwork(engine: EngineRouter(finders: engines, publishers: engines))
    }

    private func firstService(_ events: ServiceEvents) async throws -> DiscoveredService? {
        for try await event in events {
            if case .found(let service) = event { return service }
            if case .settled = event { return nil }
        }
        return nil
    }

    @Test("a service is found where it was published, and nowhere else")
    func byDomain() async throws {
        let (one, two) = (try router("h1"), try router("h2"))
        let type = try ServiceType("_witap._tcp")
        let near = one.publish(OfferedService(name: try ServiceName("near"), type: type, port: try Port(9000)))
        let far = one.publish(
            OfferedService(name: try ServiceName("far"), type: type, domain: home, port: try Port(9001)))
        _ = try await (near.established(), far.established())
        let seen = try #require(try await firstService(two.browse(type)))
        #expect(seen.instance.name.text == "near" && seen.interfaces.map(\.name) == ["eth0"])
        let remote = try #require(try await firstService(two.browse(type, in: home)))
        #expect(remote.instance.name.text == "far" && remote.interfaces.isEmpty)
        #expect(
            remote.endpoints.map(\.interface) == [nil] && remote.endpoints.allSatisfy { $0.address.family == .ipv4 })
        // A subdomain belongs to its domain.
        let lab = try Domain("lab.home.example.org")
        #expect(try await firstService(two.browse(type, in: lab)) == nil)
        for network in [one, two] { await network.shutdown() }
    }

    @Test("nothing is searched or published in a domain that no engine serves")
    func unserved() async throws {
        let network = try router("h1")
        let other = try Domain("example.com")
        var events = network.browse(try ServiceType("_witap._tcp"), in: other).makeAsyncIterator()
        guard case .backend(.unavailable(let reason)) = try await events.next() else {
            Issue.record("it was searched")
            return
        }
        #expect(reason.contains("example.com"))
        let publication = network.publish(
            try OfferedService(name: "tony", type: "_witap._tcp", domain: "example.com", port: 9000))
        await #expect(throws: DiscoveryError.self) { try await publication.established() }
        await network.shutdown()
    }

    @Test("every finder is asked for domains")
    func domains() async throws {
        let network = try router("h1")
        var found: Set<Domain> = []
        for try await event in network.domains(DomainQuery(.browsing)) {
            if case .found(let domain) = event { found.insert(domain) }
            if case .settled = event { break }
        }
        #expect(found == [.local, home])
        await network.shutdown()
    }

    @Test("one engine's end is the network's, and its return too")
    func states() async throws {
        let network = try router("h1")
        var states = network.backendStates().makeAsyncIterator()
        #expect(try await states.next() == .available)
        zone.stopBackend(of: "h1")
        guard case .lost = try await states.next() else {
            Issue.record("not told")
            return
        }
        zone.startBackend(of: "h1")
        #expect(try await states.next() == .recovered)
        await network.shutdown()
        await #expect(throws: DiscoveryError.self) { try await states.next() }
    }
}

@Suite struct JointListTests {
    private let eth0 = Origin.link(NetworkInterface(index: 2, name: "eth0"))

    @Test func isListedWhenEachThatIsUpHasListed() {
        var list = JointList<String>(count: 2)
        #expect(
            list.received([.backend(.up), .appeared("a", eth0), .listed], from: 0) == [
                .backend(.up), .appeared("a", eth0),
            ])
        #expect(
            list.received([.backend(.up), .appeared("b", .unicast), .listed], from: 1) == [
                .appeared("b", .unicast), .listed,
            ])
        #expect(list.received([.listed], from: 1) == [])
    }

    @Test func oneThatIsDownIsNotWaitedFor() {
        var list = JointList<String>(count: 2)
        #expect(list.received([.backend(.down("no"))], from: 0) == [])
        #expect(list.received([.backend(.up), .listed], from: 1) == [.backend(.up), .listed])
        #expect(list.received([.backend(.down("gone"))], from: 1) == [.backend(.down("no"))])
    }

    @Test func whatOneDoesNotRepeatAfterItsReturnIsGone() {
        var list = JointList<String>(count: 2)
        _ = list.received([.backend(.up), .appeared("a", eth0), .appeared("b", eth0), .listed], from: 0)
        _ = list.received([.backend(.up), .listed], from: 1)
        #expect(
            list.received([.backend(.down("x")), .backend(.up), .appeared("a", eth0)], from: 0) == [
                .appeared("a", eth0)
            ])
        #expect(list.received([.listed], from: 0) == [.disappeared("b", eth0)])
    }

    @Test func whatGoesAfterItsReturnGoesOnce() {
        var list = JointList<String>(count: 1)
        _ = list.received([.backend(.up), .appeared("a", eth0), .listed], from: 0)
        _ = list.received([.backend(.down("x")), .backend(.up)], from: 0)
        let facts = list.received([.disappeared("a", eth0), .listed], from: 0)
        #expect(facts.filter { $0 != .listed } == [.disappeared("a", eth0)])
    }

    @Test func statesAreUpTogether() {
        var states = JointState(count: 2)
        #expect(states.became(.up, at: 0) == nil)
        #expect(states.became(.up, at: 1) == .up)
        #expect(states.became(.down("a"), at: 1) == .down("a"))
        #expect(states.became(.down("b"), at: 0) == .down("b; a"))
        #expect(states.became(.up, at: 1) == .down("b"))
        #expect(states.became(.up, at: 0) == .up)
    }

    @Test func anIdleOneIsNotDown() {
        var states = JointState(count: 2)
        #expect(states.became(.up, at: 0) == nil)
        #expect(states.became(.idle("a"), at: 1) == .idle("a"))
        #expect(states.became(.down("b"), at: 0) == .down("b; a"))
        #expect(states.became(.up, at: 0) == .idle("a"))
        #expect(states.became(.up, at: 1) == .up)
    }

    @Test("What one history tells, another one that follows it tells the same")
    func historyOfAHistory() {
        var (first, second, combined) = (BackendWatch(), BackendWatch(), BackendWatch())
        let states: [EngineState] = [.up, .idle("no one publishes"), .up, .down("gone"), .up, .down("again")]
        for state in states {
            let told = first.became(state)
            #expect(told.flatMap { second.became(EngineState($0)) } == told)
            #expect(told.flatMap { combined.became($0) } == told)
        }
        // A query that begins now has another history.
        #expect(combined.became(.unavailable("again")) == nil)
        #expect(combined.became(.available) == .recovered)
    }
}
