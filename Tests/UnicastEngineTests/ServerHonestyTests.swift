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
        #expect(Set(facts.map(\.name.value)) == ["tony", "tony-2", "tony-3"])
    }
}
