import DNSSD
import Discovery
import DiscoveryDaemon
import DiscoveryTesting
import Testing

/// A names-only query is answered from an open query that resolves the same services.
@Suite struct SharingEngineTests {
    private let world = SimulatedNetwork()
    private let type: ServiceType
    private let browser: LocalNetwork
    private let publisher: LocalNetwork

    init() throws {
        type = try ServiceType("_xx._tcp")
        browser = LocalNetwork(engine: SharingEngine(try world.addMachine("h1")), limits: TestDaemon.limits)
        publisher = LocalNetwork(engine: try world.addMachine("h2"), limits: TestDaemon.limits)
    }

    /// The next event other than the backend becoming available.
    private func news(_ iterator: inout ServiceEvents.AsyncIterator) async throws -> ServiceEvent? {
        var event = try await iterator.next()
        while event == .backend(.available) { event = try await iterator.next() }
        return event
    }

    private func publish(_ name: String) async throws -> Publication {
        let publication = publisher.publish(try OfferedService(name: name, type: "_xx._tcp", port: 7))
        _ = try await publication.established()
        return publication
    }

    @Test func namesAreThereThoughNothingResolves() async throws {
        world.setAnswers(of: "h2", to: false)
        let one = try await publish("one")
        var resolving = browser.browse(type).makeAsyncIterator()
        // The query opens with its first iterator, which begins with a summary of the present.
        var names = browser.browse(type, resolution: .none).makeAsyncIterator()
        #expect(try await news(&names)?.name == "one")
        #expect(try await news(&names) == .settled)
        #expect(world.openOperations(of: "h1") == 1)
        let two = try await publish("two")
        #expect(try await news(&names)?.name == "two")
        world.setAnswers(of: "h2", to: true)
        #expect(try await news(&resolving)?.name == "one")
        await one.withdraw()
        await two.withdraw()
        await browser.shutdown()
    }

    @Test func namesGoOnWhenNobodyResolves() async throws {
        let one = try await publish("one")
        let two = try await publish("two")
        var resolving: ServiceEvents.AsyncIterator? = browser.browse(type).makeAsyncIterator()
        var names = browser.browse(type, resolution: .none).makeAsyncIterator()
        var found: Set<String> = []
        while found.count < 2 { if let name = try await news(&names)?.name { found.insert(name) } }
        #expect(try await news(&names) == .settled)
        _ = try await resolving?.next()
        resolving = nil
        await one.withdraw()
        #expect(try await news(&names)?.lost == "one")
        let three = try await publish("three")
        #expect(try await news(&names)?.name == "three")
        #expect(world.openOperations(of: "h1") == 1)
        for publication in [two, three] { await publication.withdraw() }
        await browser.shutdown()
    }

    @Test func whoComesLaterIsToldOfABackendThatIsAway() async throws {
        let one = try await publish("one")
        var resolving = browser.browse(type).makeAsyncIterator()
        #expect(try await news(&resolving)?.name == "one")
        world.stopBackend(of: "h1")
        while try await news(&resolving)?.isLoss != true {}
        var names = browser.browse(type, resolution: .none).makeAsyncIterator()
        // Reports the services known before, and that they are unknown now.
        var told: [ServiceEvent] = []
        while told.count < 2, let event = try await news(&names) { told.append(event) }
        #expect(told.compactMap(\.name) == ["one"] && told.count(where: \.isLoss) == 1, "\(told)")
        world.startBackend(of: "h1")
        #expect(try await news(&names) == .backend(.recovered))
        await one.withdraw()
        await browser.shutdown()
    }
}

extension ServiceEvent {
    /// The name of the service found.
    fileprivate var name: String? {
        if case .found(let service) = self { service.instance.name.text } else { nil }
    }
    fileprivate var lost: String? {
        if case .lost(let service) = self { service.instance.name.text } else { nil }
    }
    fileprivate var isLoss: Bool { if case .backend(.lost) = self { true } else { false } }
}

/// What a later subscriber receives, as a value.
@Suite struct SeenNamesTests {
    private let sightings: [Sighting]

    init() throws {
        sightings = try ["a", "b"].map {
            Sighting(
                instance: ServiceInstance(
                    name: try ServiceName($0), type: try ServiceType("_xx._tcp"), domain: .local),
                origin: .link(NetworkInterface(index: 2, name: "eth0")), family: .ipv4)
        }
    }

    @Test func whatIsThereIsTold() {
        var seen = SeenNames()
        for fact in [.backend(.up), .appeared(sightings[0]), .appeared(sightings[1]), .disappeared(sightings[0])]
            as [BrowseFact]
        {
            #expect(seen.took(fact, amid: []) == [fact])
        }
        #expect(seen.summary(amid: []) == [.backend(.up), .appeared(sightings[1])])
        _ = seen.took(.listed, amid: [])
        #expect(seen.summary(amid: []) == [.backend(.up), .appeared(sightings[1]), .listed])
    }

    @Test func aBackendThatIsAwayIsRemembered() {
        var seen = SeenNames()
        _ = seen.took(.backend(.down("none")), amid: [])
        #expect(seen.summary(amid: []) == [.backend(.down("none"))])
        for fact in [.backend(.up), .appeared(sightings[0]), .listed, .backend(.down("gone"))] as [BrowseFact] {
            _ = seen.took(fact, amid: [])
        }
        #expect(seen.summary(amid: []) == [.backend(.up), .appeared(sightings[0]), .backend(.down("gone"))])
        for fact in [.backend(.up), .appeared(sightings[1])] as [BrowseFact] { _ = seen.took(fact, amid: []) }
        // A subscriber that saw the service learns with the list that it was not repeated.
        #expect(seen.took(.listed, amid: []) == [.listed])
        #expect(seen.summary(amid: []) == [.backend(.up), .appeared(sightings[1]), .listed])
    }

    @Test func whatAnotherOperationDoesNotSeeIsGone() {
        var seen = SeenNames()
        _ = seen.took(.backend(.up), amid: [])
        for sighting in sightings { _ = seen.took(.appeared(sighting), amid: []) }
        seen.doubtAll()
        #expect(seen.took(.backend(.up), amid: []).isEmpty)
        _ = seen.took(.appeared(sightings[1]), amid: [])
        #expect(seen.took(.listed, amid: []) == [.disappeared(sightings[0]), .listed])
        #expect(seen.summary(amid: []) == [.backend(.up), .appeared(sightings[1]), .listed])
    }

    @Test func aTroubleThatIsOverIsNotTold() {
        var seen = SeenNames()
        _ = seen.took(.backend(.up), amid: [])
        _ = seen.took(.degraded("full"), amid: ["full"])
        _ = seen.took(.degraded("too many"), amid: ["full"])
        #expect(seen.summary(amid: ["full"]) == [.backend(.up), .degraded("full"), .degraded("too many")])
        #expect(seen.summary(amid: []) == [.backend(.up), .degraded("too many")])
    }
}
