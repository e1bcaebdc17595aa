import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite struct PublicationTests {
    private let world = SimulatedNetwork(delivery: .byHand)
    private let time = TestTime()
    private let one: LocalNetwork
    private let two: LocalNetwork
    private let service: OfferedService

    init() throws {
        one = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        two = LocalNetwork(engine: try world.addMachine("h2"), time: time)
        service = OfferedService(
            name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"), port: try Port(9000))
    }

    @Test func updatesBeginWithNowAndEndWithTheLast() async throws {
        let publication = one.publish(service)
        var updates = publication.updates.makeAsyncIterator()
        #expect(await updates.next()?.state == .registering)
        world.deliver()
        #expect(await updates.next()?.state == .established)
        time.advance(by: .seconds(5))
        #expect(publication.timeInState == .seconds(5))
        world.stopBackend(of: "h1")
        world.deliver()
        world.startBackend(of: "h1")
        world.deliver()
        // Only the newest status is kept.
        #expect(await updates.next()?.state == .established)
        #expect(publication.timeInState == .zero)
        #expect(await publication.withdraw())
        #expect(await publication.withdraw())
        #expect(await updates.next()?.state == .withdrawn)
        #expect(await updates.next() == nil)
        #expect(world.openOperations == 0)
    }

    @Test func aRenameShowsInTheStatus() async throws {
        let first = one.publish(service)
        let second = two.publish(service)
        world.deliver()
        #expect(try await first.established().text == "tony")
        #expect(try await second.established().text == "tony #2")
        #expect(second.status.wanted.text == "tony")
        #expect(second.status.renames == 1)
    }

    @Test func twoThatMeetAfterAPartitionEndWithTwoNames() async throws {
        world.partition([["h1"], ["h2"]])
        let first = one.publish(service)
        let second = two.publish(service)
        world.deliver()
        #expect(second.status.name.text == "tony")
        world.heal()
        world.deliver()
        // Which of them keeps it is not who was first (RFC 6762 §9).
        #expect(Set([first, second].map(\.status.name.text)) == ["tony", "tony #2"])
    }

    @Test func aTakenNameIsAnErrorWhenAsked() async throws {
        let first = one.publish(service)
        var other = service
        other.port = try Port(9001)
        let second = one.publish(other, onConflict: .fail)
        world.deliver()
        await #expect(throws: DiscoveryError.self) { try await second.established() }
        #expect(second.status.state.isFinal)
        #expect(first.status.state == .established)
        #expect(world.openOperations == 1)
    }

    @Test func aScopeWithdrawsWhenItThrowsAndWhenItIsCancelled() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await one.withPublished(service) { _ in throw Stop() }
        }
        #expect(world.openOperations == 0)
        let (started, signal) = AsyncStream<Void>.makeStream()
        let task = Task { [one, service] in
            try await one.withPublished(service) { publication in
                signal.yield()
                _ = try await publication.established()
            }
        }
        for await _ in started { break }
        task.cancel()
        await #expect(throws: DiscoveryError.self) { try await task.value }
        #expect(world.openOperations == 0)
    }

    @Test func whatIsDroppedIsCancelled() {
        var publication: Publication? = one.publish(service)
        world.deliver()
        #expect(publication?.status.state == .established)
        publication = nil
        #expect(world.openOperations == 0)
    }
}
