import DNSSD
import Discovery
import DiscoveryTesting
import Testing

/// Two machines; the test advances the clock and delivers the reports. What a subscriber receives, and what is left behind.
@Suite struct LocalNetworkTests {
    private let time = TestTime()
    private let world = SimulatedNetwork(delivery: .byHand)
    private let publisher: LocalNetwork
    private let browser: LocalNetwork
    private let type: ServiceType

    init() throws {
        publisher = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        browser = LocalNetwork(engine: try world.addMachine("h2"), time: time)
        type = try ServiceType("_witap._tcp")
    }

    private func service(_ name: String, txt: KeyValuePairs<String, String?> = [:]) throws -> OfferedService {
        OfferedService(name: try ServiceName(name), type: type, port: try Port(9000), txt: try TXTRecord(txt))
    }

    /// The events that are ready, except the backend's first. Deadlines that have passed are applied, whether or not the alarm has fired.
    private func words(
        _ iterator: inout ServiceEvents.AsyncIterator, of network: LocalNetwork? = nil
    ) async throws -> [String] {
        world.deliver()
        let directory = (network ?? browser).directory
        directory.types.amendAll { $0.tick(now: $1) }
        directory.services.amendAll { $0.tick(now: $1) }
        let events = try await iterator.nextBatch(atMost: .max, until: time.now) ?? []
        return events.filter { $0 != .backend(.available) }.map(\.word)
    }

    @Test func aServiceIsFoundChangedAndLost() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        #expect(try await words(&events) == ["settled"])
        let publication = publisher.publish(try service("tony"))
        #expect(try await words(&events) == ["+tony"])
        world.setTXT(of: try ServiceName("tony"), on: "h1", to: try TXTRecord(["v": "2"]))
        #expect(try await words(&events) == ["~tony"])
        #expect(await publication.withdraw())
        #expect(publication.status.state == .withdrawn)
        #expect(try await words(&events) == [])
        time.advance(by: .milliseconds(3090))
        #expect(try await words(&events) == [])
        time.advance(by: .milliseconds(10))
        #expect(try await words(&events) == ["-tony"])
    }

    @Test func publishingAgainInTimeIsAChangeAtMost() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        await publisher.publish(try service("tony")).withdraw()
        let first = publisher.publish(try service("tony"))
        #expect(try await words(&events) == ["settled", "+tony"])
        await first.withdraw()
        let second = publisher.publish(try service("tony", txt: ["v": "2"]))
        #expect(try await words(&events) == ["~tony"])
        time.advance(by: .seconds(10))
        #expect(try await words(&events) == [])
        #expect(second.status.state == .established)
    }

    @Test func whoWaitsIsWokenByTheAlarm() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        let publication = publisher.publish(try service("tony"))
        #expect(try await words(&events) == ["settled", "+tony"])
        await publication.withdraw()
        world.deliver()
        await time.sleeper(until: .milliseconds(3100))
        time.advance(by: .milliseconds(3100))
        #expect(try await events.next()?.word == "-tony")
    }

    @Test func oneOperationForAllWhoAskTheSame() async throws {
        var first = browser.browse(type).makeAsyncIterator()
        let publication = publisher.publish(try service("tony"))
        #expect(try await words(&first) == ["settled", "+tony"])
        let before = world.openOperations
        var second: ServiceEvents.AsyncIterator? = browser.browse(type).makeAsyncIterator()
        #expect(world.openOperations == before)
        #expect(try await second?.nextBatch(atMost: 100)?.map(\.word) == ["backend available", "+tony", "settled"])
        second = nil
        #expect(world.openOperations == before)
        withExtendedLifetime(publication) {}
    }

    @Test func nothingIsLeftBehindByDroppingOrCancelling() async throws {
        do {
            let events = browser.browse(type).makeAsyncIterator()
            let all = browser.browseAll().makeAsyncIterator()
            let types = browser.types().makeAsyncIterator()
            let domains = browser.domains(DomainQuery(.browsing)).makeAsyncIterator()
            let publication = publisher.publish(try service("tony"))
            world.deliver()
            // One each for services, types and domains, however many subscribers there are; plus the publication.
            #expect(world.openOperations == 4)
            withExtendedLifetime((events, all, types, domains, publication)) {}
        }
        #expect(world.openOperations == 0)
        let (started, signal) = AsyncStream<Void>.makeStream()
        let task = Task { [browser, type] in
            var events = browser.browse(type).makeAsyncIterator()
            signal.yield()
            while try await events.next() != nil {}
            return true
        }
        for await _ in started { break }
        #expect(world.openOperations == 1)
        task.cancel()
        #expect(try await task.value)
        #expect(world.openOperations == 0)
        #expect(time.sleepers == 0)
    }

    @Test func aBackendThatGoesAndComesBackTakesNothingAway() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        let tony = publisher.publish(try service("tony"))
        var bob: Publication? = publisher.publish(try service("bob"))
        #expect(try await words(&events) == ["settled", "+tony", "+bob"])
        world.stopBackend(of: "h2")
        #expect(try await words(&events) == ["backend lost"])
        time.advance(by: .seconds(1000))
        #expect(try await words(&events) == [])
        withExtendedLifetime(bob) {}
        bob = nil
        var late = browser.browse(type).makeAsyncIterator()
        #expect(try await words(&late) == ["backend lost", "+tony", "+bob", "settled"])
        world.startBackend(of: "h2")
        #expect(try await words(&events) == ["backend recovered"])
        time.advance(by: .seconds(10))
        #expect(try await words(&events) == ["-bob"])
        #expect(tony.status.state == .established)
    }

    @Test func aSubscriberThatNeverReadsIsToldTheDifference() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        let stays = publisher.publish(try service("stays"))
        for _ in 0..<50 {
            let goes = publisher.publish(try service("goes"))
            world.deliver()
            await goes.withdraw()
            world.deliver()
            time.advance(by: .seconds(4))
        }
        #expect(try await words(&events) == ["settled", "+stays"])
        withExtendedLifetime(stays) {}
    }

    @Test func everyTypeIsBrowsedAndSettledOnce() async throws {
        let publication = publisher.publish(try service("tony"))
        var web = try service("web")
        web.type = try ServiceType("_http._tcp")
        let other = publisher.publish(web)
        var events = browser.browseAll().makeAsyncIterator()
        world.deliver()
        // The types' time window ends with their list, so no time needs to pass.
        let told = try await words(&events)
        #expect(Set(told) == ["+tony", "+web", "settled"])
        #expect(told.count == 3 && told.last == "settled")
        var later = try service("later")
        later.type = try ServiceType("_ipp._tcp")
        let third = publisher.publish(later)
        world.deliver()
        time.advance(by: .milliseconds(50))
        #expect(try await words(&events) == [])
        #expect(try await words(&events) == ["+later"])
        world.stopBackend(of: "h2")
        #expect(try await words(&events) == ["backend lost"])
        world.startBackend(of: "h2")
        #expect(try await words(&events) == ["backend recovered"])
        withExtendedLifetime((publication, other, third)) {}
    }

    @Test(arguments: [false, true]) func whoFollowsIsToldAgainThatAllIsKnown(_ all: Bool) async throws {
        let publication = publisher.publish(try service("tony"))
        let listener: Subscriber<DiscoveredService> = browser.directory.makeSubscriber(repeatsSettled: true)
        let membership =
            all
            ? browser.followAll(TypeQuery(), resolution: .watch, by: listener)
            : browser.follow(ServiceQuery(.type(type, .local)), by: listener)
        func words() async throws -> [String] {
            world.deliver()
            let changes = try await listener.next(atMost: .max, until: time.now) ?? []
            return changes.words.filter { $0 != "backend available" }
        }
        #expect(try await words().last == "settled")
        world.stopBackend(of: "h2")
        #expect(try await words() == ["backend lost"])
        let later = publisher.publish(try service("later"))
        world.startBackend(of: "h2")
        #expect(try await words() == ["backend recovered", "+later", "settled"])
        membership.leave()
        withExtendedLifetime((publication, later)) {}
    }

    @Test func moreTypesThanTheLimitAreLeftOutAndThatIsSaid() async throws {
        var limits = DiscoveryLimits()
        limits.types = 2
        let browser = LocalNetwork(engine: try world.addMachine("h3"), limits: limits, time: time)
        let publications = try ["_a._tcp", "_b._tcp", "_c._tcp"].map { type in
            var service = try service(type)
            service.type = try ServiceType(type)
            return publisher.publish(service)
        }
        var events = browser.browseAll().makeAsyncIterator()
        let told = try await words(&events, of: browser)
        #expect(Set(told) == ["degraded", "+_a._tcp", "+_b._tcp", "settled"])
        #expect(told.count == 4 && told.last == "settled")
        withExtendedLifetime(publications) {}
    }

    @Test func aTypeThatIsGoneGivesWayToANewOne() async throws {
        var limits = DiscoveryLimits()
        limits.types = 2
        let browser = LocalNetwork(engine: try world.addMachine("h3"), limits: limits, time: time)
        func publish(_ type: String) throws -> Publication {
            var service = try service(type)
            service.type = try ServiceType(type)
            return publisher.publish(service)
        }
        let gone = try publish("_a._tcp")
        let stays = try publish("_b._tcp")
        var events = browser.browseAll().makeAsyncIterator()
        #expect(try await Set(words(&events, of: browser)) == ["+_a._tcp", "+_b._tcp", "settled"])
        await gone.withdraw()
        world.deliver()
        time.advance(by: .seconds(5))
        #expect(try await words(&events, of: browser) == ["-_a._tcp"])
        let new = try publish("_c._tcp")
        world.deliver()
        time.advance(by: .seconds(5))
        // Its query settles on its own time.
        let told = try await words(&events, of: browser)
        time.advance(by: .seconds(5))
        #expect(try await told + words(&events, of: browser) == ["+_c._tcp"])
        withExtendedLifetime((stays, new)) {}
    }

    @Test func batchesHoldAllThatIsThere() async throws {
        let publications = try (0..<5).map { publisher.publish(try service("s\($0)")) }
        var events = browser.browse(type).makeAsyncIterator()
        world.deliver()
        #expect(try await events.nextBatch(atMost: 5)?.count == 5)
        #expect(try await events.nextBatch(atMost: 100)?.map(\.word) == ["+s4", "settled"])
        withExtendedLifetime(publications) {}
    }

    @Test func whoIteratesKeepsTheNetworkAlive() async throws {
        var network: LocalNetwork? = LocalNetwork(engine: try world.addMachine("h3"), time: time)
        var events = network?.browse(type).makeAsyncIterator()
        network = nil
        let publication = publisher.publish(try service("tony"))
        world.deliver()
        #expect(try await events?.nextBatch(atMost: 100)?.map(\.word) == ["backend available", "settled", "+tony"])
        events = nil
        #expect(world.openOperations == 1)
        withExtendedLifetime(publication) {}
    }

    @Test func shutdownEndsEverything() async throws {
        var events = browser.browse(type).makeAsyncIterator()
        let publication = browser.publish(try service("tony"))
        world.deliver()
        await browser.shutdown()
        #expect(world.openOperations == 0)
        #expect(publication.status.state == .withdrawn)
        await #expect(throws: DiscoveryError.self) {
            while try await events.next() != nil {}
        }
        await #expect(throws: DiscoveryError.self) { try await browser.browse(type).first { _ in true } }
        await #expect(throws: DiscoveryError.self) {
            try await browser.publish(try service("late")).established()
        }
        #expect(world.openOperations == 0)
    }
}

extension ServiceEvent {
    /// An event as a word: `+tony`, `settled`.
    var word: String { word { "\($0.instance.name)" } }
}
