import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// Servers that say that an update is done, and leave records out or answer no question for a name.
@Suite struct ServerHonestyTests {
    @Test(
        "A service of which records are left out is never established, and refused after a bounded number of updates",
        arguments: [[RecordType.a], [.txt], [.dhcid], [.srv], [.ptr], [.a, .txt, .srv, .ptr, .dhcid]])
    func leftOut(_ types: [RecordType]) throws {
        var world = ZoneSimulation(seed: 5)
        world.zone.omitted = Set(types)
        var generator = SeededGenerator(seed: 1)
        let one = try world.add(PublisherID(using: &generator), host: "h1")
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(20))
        guard case .failed(let error) = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        #expect(error.code == .notPermitted && error.message.contains("policy"), "\(error.message)")
        #expect(world.updates < 20, "\(world.updates)")
        // What was written stays, because its owner cannot be told; no other name is tried beside it.
        let names = Set(world.zone.records.keys.filter { $0.type == .srv }.map(\.name))
        #expect(names.count == (types == [.dhcid] ? 1 : 0), "\(names)")
    }

    @Test("Where a server answers for common names alone, others are refused, and what is taken gets a common number")
    func commonNames() throws {
        var world = ZoneSimulation(seed: 6)
        world.zone.knowsCommonNamesOnly = true
        var generator = SeededGenerator(seed: 2)
        let publishers = try (0..<3).map { try world.add(PublisherID(using: &generator), host: "h\($0)") }
        for index in publishers { try world.publish("tony", by: index) }
        let refused = try world.publish("Büro", by: publishers[0])
        world.run(for: .seconds(60))
        guard case .failed(let error) = world.publishers[publishers[0]].facts[refused]?.state else {
            Issue.record("\(String(describing: world.publishers[publishers[0]].facts[refused]))")
            return
        }
        #expect(error.code == .misconfigured)
        let facts = publishers.flatMap { world.publishers[$0].facts.values }.filter { $0.state == .established }
        #expect(Set(facts.map(\.name.text)) == ["tony", "tony-2", "tony-3"])
    }

    /// A publisher in its world, with the name of a service that not every server knows.
    private func uncommon(_ change: (inout ScriptedZone) -> Void) throws -> (ZoneSimulation, Int, Int, DomainName) {
        var world = ZoneSimulation(seed: 7)
        change(&world.zone)
        var generator = SeededGenerator(seed: 3)
        let one = try world.add(PublisherID(using: &generator), host: "h1")
        let number = try world.publish("Büro", by: one, isPersistent: true)
        let service = try #require(world.publishers[one].services[number])
        return (world, one, number, try #require(InstanceNames(service, as: service.name)).instance)
    }

    @Test func questionsThatAreRefusedAreFew() throws {
        var (world, one, number, name) = try uncommon { $0.refusesUncommonNames = true }
        world.run(for: .seconds(300))
        guard case .refused = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        #expect((2...20) ~= world.asked[name] ?? 0, "\(world.asked[name] ?? 0)")
    }

    @Test func oneFailureIsNoProofThatANameCannotBeKnown() throws {
        var (world, one, number, name) = try uncommon { $0.knowsCommonNamesOnly = true }
        while world.asked[name] == nil, world.now < .seconds(60) { world.run(for: .milliseconds(10)) }
        world.zone.knowsCommonNamesOnly = false
        var isRefused = false
        for _ in 0..<100 {
            world.run(for: .milliseconds(200))
            if case .refused = world.publishers[one].facts[number]?.state { isRefused = true }
        }
        #expect(!isRefused)
        #expect(world.publishers[one].facts[number]?.state == .established)
    }

    @Test func aServerThatFailsToSayProvesNothing() throws {
        var (world, one, number, _) = try uncommon { $0.failsConditionsAlone = true }
        world.run(for: .seconds(60))
        #expect(!world.publishers[one].rules.honesty.isProven)
        guard case .waiting = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        #expect(world.updates < 40, "\(world.updates)")
        world.zone.failsConditionsAlone = false
        world.run(for: .seconds(60))
        #expect(world.publishers[one].facts[number]?.state == .established)
        #expect(world.publishers[one].facts[number]?.name.text == "Büro")
    }

    @Test(
        "A lease that ended while the machine slept, or that was removed although no answer came, was not left out",
        arguments: [true, false])
    func leasesThatAreGone(_ slept: Bool) throws {
        var world = ZoneSimulation(seed: 8)
        var generator = SeededGenerator(seed: 4)
        // No renewal comes in between, which would tell that the server holds leases.
        let one = try world.add(PublisherID(using: &generator), host: "h1", lease: 7200)
        world.publishers[one].rules.addressesBecame([])
        var number = try world.publish("tony", by: one, isPersistent: true)
        for _ in 0..<3 {
            world.run(for: .seconds(15))
            if slept {
                world.zone = ScriptedZone()
                world.publishers[one].rules.doubtLease()
                world.turn(one)
            } else {
                world.losesAnswers = true
                world.withdraw(number, by: one)
                world.run(for: .seconds(10))
                world.losesAnswers = false
            }
            // Before the lease is written again and a refusal is over.
            for _ in 0..<600 {
                world.run(for: .milliseconds(100))
                if case .refused(let error) = world.publishers[one].rules.state { Issue.record("\(error)") }
            }
            if !slept { number = try world.publish("tony", by: one, isPersistent: true) }
        }
    }
}
