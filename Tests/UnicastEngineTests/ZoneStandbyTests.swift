import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// Two publishers that want the same services under the same names, as two gateways of a link: one publishes, the other stands by.
@Suite struct ZoneStandbyTests {
    @Test func oneTakesOverWhenTheLeaseOfTheOtherHasEnded() throws {
        var world = ZoneSimulation(seed: 3)
        var generator = SeededGenerator(seed: 7)
        let first = try world.add(PublisherID(using: &generator), host: "gw1", lease: 40)
        let second = try world.add(PublisherID(using: &generator), host: "gw2", lease: 40)
        for name in ["a", "b", "c"] { try world.publish(name, by: first, onConflict: .fail, isPersistent: true) }
        world.run(for: .seconds(5))
        for name in ["a", "b", "c"] { try world.publish(name, by: second, onConflict: .fail, isPersistent: true) }
        // Long enough for the pauses between its tries to be the longest.
        world.run(for: .seconds(300))
        #expect(world.publishers[first].facts.values.allSatisfy { $0.state == .established })
        #expect(isStandingBy(world.publishers[second]))
        let before = world.updates
        world.run(for: .seconds(400))
        // Renewals, two each minute of either: to stand by costs questions.
        #expect(world.updates - before <= 50, "\(world.updates - before)")

        world.publishers[first].isAlive = false
        world.run(for: .seconds(40 + 8))
        #expect(world.publishers[second].facts.values.allSatisfy { $0.state == .established })
        #expect(world.publishers[second].facts.values.map(\.name.text).sorted() == ["a", "b", "c"])
    }

    private func isStandingBy(_ publisher: ZoneSimulation.Publisher) -> Bool {
        publisher.facts.count == 3
            && publisher.facts.values.allSatisfy { fact in
                if case .refused(let error) = fact.state { error.code == .nameTaken } else { false }
            }
    }
}
