import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite("Services as a list")
struct ServiceListTests {
    private let time = TestTime()
    private let world = SimulatedNetwork(delivery: .byHand)
    private let publisher: LocalNetwork
    private let browser: LocalNetwork

    init() throws {
        publisher = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        browser = LocalNetwork(engine: try world.addMachine("h2"), time: time)
    }

    private func service(_ name: String, state: DiscoveredService.State = .found) throws -> DiscoveredService {
        DiscoveredService(instance: try instance(name), state: state)
    }

    @Test("The list is sorted, each service is there once, and only changes are told")
    func value() throws {
        var list = SortedServices()
        let (a, b, c) = (try service("a"), try service("b"), try service("c"))
        let resolved = try service("b", state: .resolved)
        let told = [
            list.apply([.found(b), .found(a), .found(c)]), list.apply([.found(b), .settled, .backend(.available)]),
            list.apply([.changed(resolved)]), list.apply([.lost(try service("d")), .degraded("x")]),
        ]
        #expect(told == [true, false, true, false] && list.services == [a, resolved, c])
        let isGoneTold = list.apply([.lost(a)])
        #expect(isGoneTold && list.services == [resolved, c])
    }

    @Test("Nothing is told until it is known that nothing is there, and that once")
    func empty() {
        var list = SortedServices()
        let told = [
            list.apply([.backend(.available)]), list.apply([.settled]),
            list.apply([.settled, .backend(.lost("gone")), .backend(.recovered)]),
        ]
        #expect(told == [false, true, false] && list.services.isEmpty)
    }

    @Test("A network's services come, change and go; a slow reader gets the newest list")
    func stream() async throws {
        var lists = browser.services(of: "_witap._tcp").makeAsyncIterator()
        world.deliver()
        #expect(try await lists.next() == [])
        let one = publisher.publish(try OfferedService(name: "one", type: "_witap._tcp", port: 1, txt: ["v": "1"]))
        let two = publisher.publish(try OfferedService(name: "two", type: "_witap._tcp", port: 2))
        world.deliver()
        let both = try #require(try await lists.next())
        #expect(both.map(\.instance.name.text) == ["one", "two"] && both[0].txt["v"] == "1")
        #expect(await two.update(txt: ["v": "2"]))
        await one.withdraw()
        world.deliver()
        time.advance(by: .milliseconds(3100))
        world.deliver()
        // The change of the one may be a list before the end of the other.
        var last = try #require(try await lists.next())
        while last.count > 1 { last = try #require(try await lists.next()) }
        #expect(last.map(\.instance.name.text) == ["two"] && last[0].txt["v"] == "2")
        withExtendedLifetime(two) {}
    }

    @Test("After the network was shut down a list throws")
    func closed() async throws {
        var lists = browser.services(of: try ServiceType("_witap._tcp")).makeAsyncIterator()
        await browser.shutdown()
        let error = await #expect(throws: DiscoveryError.self) { try await lists.next() }
        #expect(error?.code == .closed)
    }

    @Test("A literal that is no type is told when it is asked for, as text would be", arguments: [true, false])
    func wrongLiteral(isList: Bool) async throws {
        let expected = #expect(throws: DiscoveryError.self) { try ServiceType("_witap") }
        let error = await #expect(throws: DiscoveryError.self) {
            if isList {
                for try await _ in browser.services(of: "_witap") {}
            } else {
                for try await _ in browser.browse("_witap") {}
            }
        }
        #expect(error == expected && error?.code == .invalidServiceType)
        #expect(world.openOperations == 0)
    }
}
