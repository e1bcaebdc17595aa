import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// The name of a publisher's host, where it is not the publisher's own, or may not be written.
@Suite struct HostNameTests {
    private var world = ZoneSimulation(seed: 1)
    private let name: DomainName
    private let one: Int
    private let number: Int

    /// A service points to `h1`, whose address somebody else has written, as a DHCP server does.
    init() throws {
        name = try #require(try ZoneSimulation.layout().host("h1"))
        world.zone.records[.init(name: name, type: .a)] = [.a(0x0A00_0001)]
        one = try world.add(try #require(PublisherID(Array(repeating: 0x61, count: 32))), host: "h1")
        number = try world.publish("tony", by: one)
        world.run(for: .seconds(30))
    }

    private var targets: Set<DomainName> {
        Set(
            world.zone.records.values.flatMap { $0 }.compactMap { data in
                if case .srv(_, _, _, let target) = data { target } else { nil }
            })
    }

    @Test mutating func aBorrowedNameThatStaysCostsNoUpdateButTheRenewals() throws {
        let before = world.updates
        world.run(for: .seconds(200))
        #expect(targets == [name] && world.updates - before <= 12, "\(world.updates - before)")
    }

    @Test mutating func aBorrowedNameThatGoesBecomesThePublishersOwn() throws {
        world.zone.records[.init(name: name, type: .a)] = nil
        world.run(for: .seconds(40))
        #expect(targets == [name])
        #expect(world.zone.records[.init(name: name, type: .a)] == [.a(0x0A00_0001)])
        #expect(world.zone.records[.init(name: name, type: .dhcid)] != nil)
        world.withdraw(number, by: one)
        world.run(for: .seconds(30))
        #expect(world.zone == ScriptedZone())
    }

    @Test mutating func aBorrowedNameThatBecomesAnothersIsLeft() throws {
        world.zone.records[.init(name: name, type: .a)] = [.a(0x0A00_0063)]
        world.run(for: .seconds(40))
        let own = try #require(try ZoneSimulation.layout().host("h1-2"))
        #expect(targets == [own])
        #expect(world.zone.records[.init(name: own, type: .a)] == [.a(0x0A00_0001)])
        world.withdraw(number, by: one)
        world.run(for: .seconds(30))
        #expect(world.zone.records == [.init(name: name, type: .a): [.a(0x0A00_0063)]])
    }

    @Test mutating func aHostThatMayNotBeRemovedHoldsNobodyUp() throws {
        let id = try #require(PublisherID(Array(repeating: 0x62, count: 32)))
        let two = try world.add(id, host: "h2")
        let service = try world.publish("other", by: two)
        world.run(for: .seconds(30))
        let host = try #require(try ZoneSimulation.layout().host("h2"))
        world.zone.forbidden = [host]
        world.withdraw(service, by: two)
        world.run(for: .seconds(60))
        #expect(world.publishers[two].gone == [service])
        let lease = world.publishers[two].rules.layout.lease(of: id)
        #expect(world.zone.records[.init(name: lease, type: .txt)] == nil)
        #expect(world.zone.records[.init(name: host, type: .a)] != nil)
        #expect(world.publishers[one].facts[number]?.state == .established)
    }

    @Test mutating func aHostThatMayNotBeRemovedHoldsNoJanitorUp() throws {
        let id = try #require(PublisherID(Array(repeating: 0x62, count: 32)))
        let two = try world.add(id, host: "h2")
        try world.publish("other", by: two)
        world.run(for: .seconds(30))
        world.zone.forbidden = [try #require(try ZoneSimulation.layout().host("h2"))]
        world.crash(two)
        world.run(for: .seconds(60))
        let lease = world.publishers[two].rules.layout.lease(of: id)
        #expect(world.zone.records[.init(name: lease, type: .txt)] == nil && world.publishers[one].rules.reaped == 1)
    }
}
