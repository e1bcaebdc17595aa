import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// A lease that may have been taken back long before its renewal is due.
@Suite struct LeaseDoubtTests {
    private var world = ZoneSimulation(seed: 1)
    private let one: Int
    private let number: Int

    init() throws {
        one = try world.add(try #require(PublisherID(Array(repeating: 0x61, count: 32))), host: "h1", lease: 7200)
        number = try world.publish("tony", by: one)
        world.run(for: .seconds(30))
    }

    @Test func afterASleepItIsLookedAtBeforeItsTime() throws {
        var rules = world.publishers[one].rules
        rules.slept()
        let asked = rules.next(world.now).compactMap { step -> DomainName? in
            if case .request(_, .ask(let name, .txt)) = step { name } else { nil }
        }
        #expect(asked.contains(rules.records.lease))
    }

    /// Nothing else is sent that could tell that it is gone.
    @Test mutating func oneThatIsDoubtedAndGoneIsWrittenAgain() throws {
        world.publishers[one].mayHaveLost = true
        world.zone = ScriptedZone()
        world.publishers[one].rules.doubtLease()
        world.turn(one)
        world.run(for: .seconds(20))
        let service = try #require(world.publishers[one].services[number])
        #expect(world.has(service, as: service.name, id: world.publishers[one].rules.id))
    }

    /// Whoever watches it counts from its last change, and has not slept.
    @Test mutating func afterASleepItIsRenewedBeforeItsTime() throws {
        let place = ScriptedZone.Place(name: world.publishers[one].rules.records.lease, type: .txt)
        let before = try #require(world.zone.records[place])
        world.publishers[one].rules.slept()
        world.turn(one)
        world.run(for: .seconds(20))
        let after = try #require(world.zone.records[place])
        #expect(after != before)
        #expect(world.publishers[one].facts[number]?.state == .established)
    }

    /// Nothing of its own is to be sent: only the question about the lease can tell that the server is back.
    @Test mutating func afterAPauseSomethingIsAskedThatEndsIt() throws {
        world.isServerUp = false
        // The janitor asks.
        world.run(for: .seconds(700))
        guard case .waiting = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        world.isServerUp = true
        world.run(for: .seconds(50))
        #expect(world.publishers[one].facts[number]?.state == .established)
    }

    /// What is refused for long, so that the pauses between tries are the longest: the domain, or with the lease held this machine's addresses alone.
    enum Refused: CaseIterable { case domain, addresses }

    @Test(arguments: Refused.allCases, 0..<20)
    func whatIsPublishedWhereAllIsRefusedIsToldSoWithinFiveSeconds(refused: Refused, seed: Int) throws {
        var world = ZoneSimulation(seed: UInt64(seed))
        switch refused {
        case .domain: world.zone.refusal = DiscoveryError(.notPermitted, "the key")
        case .addresses: world.zone.forbidden = [try #require(try ZoneSimulation.layout().host("h1"))]
        }
        let one = try world.add(try #require(PublisherID(Array(repeating: 0x61, count: 32))), host: "h1")
        try world.publish("old", by: one, isPersistent: true)
        world.run(for: .seconds(200 + seed))
        let number = try world.publish("new", by: one)
        world.run(for: .seconds(5))
        guard case .failed(let error) = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        #expect(error.code == .notPermitted)
    }

    /// As by a server that is restarted and does not serve the zone at first.
    @Test mutating func afterARefusalItIsRenewedAtOnce() throws {
        world.zone.refusal = DiscoveryError(.misconfigured, "not served")
        world.publishers[one].rules.doubtLease()
        world.turn(one)
        world.run(for: .seconds(20))
        guard case .refused = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        world.zone.refusal = nil
        world.run(for: .seconds(50))
        #expect(world.publishers[one].facts[number]?.state == .established)
    }
}
