import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// Publishing in a zone, as rules, against a server that is a value.
@Suite struct ZonePublisherTests {
    private static func id(_ number: UInt64) -> PublisherID {
        var generator = SeededGenerator(seed: number)
        return PublisherID(using: &generator)
    }

    private static func simulation(_ seed: UInt64 = 1) -> ZoneSimulation { ZoneSimulation(seed: seed) }

    @Test func aServiceIsThereAndLeavesNothing() throws {
        var world = Self.simulation()
        let before = world.zone
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: one, subtypes: ["_printer"])
        world.run(for: .seconds(10))
        #expect(world.publishers[one].facts[number]?.state == .established)
        #expect(world.zone.records.keys.contains { "\($0.name)" == "h1.home.example.org." && $0.type == .a })
        #expect(world.zone.records.keys.contains { "\($0.name)" == "_services._dns-sd._udp.home.example.org." })
        world.withdraw(number, by: one)
        world.run(for: .seconds(20))
        #expect(world.publishers[one].gone == [number])
        #expect(world.zone == before)
    }

    @Test("Who ends while it still reads what an earlier process may have left takes back all of its own, at once")
    func withdrawnWhileReading() throws {
        for seed in 0..<UInt64(200) {
            var world = Self.simulation(seed)
            let before = world.zone
            let one = try world.add(Self.id(1), isKnown: true, host: "h1", lease: 3600)
            let number = try world.publish("tony", by: one)
            for _ in 0..<10_000 where world.publishers[one].facts[number]?.state != .established {
                world.run(for: .milliseconds(1))
            }
            world.withdraw(number, by: one)
            world.run(for: .seconds(20))
            #expect(world.zone == before, "\(seed)")
        }
    }

    @Test("What is withdrawn after updates whose answers were all lost leaves nothing: no lease, no entry of the list")
    func withdrawnAfterLostAnswers() throws {
        var world = Self.simulation()
        let before = world.zone
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: one)
        // From the first update on, which the server has carried out.
        for _ in 0..<10_000 where world.zone == before { world.run(for: .milliseconds(1)) }
        world.losesAnswers = true
        world.run(for: .seconds(60))
        #expect(world.zone != before && world.publishers[one].facts[number]?.state != .established)
        world.losesAnswers = false
        world.withdraw(number, by: one)
        // A process that ends waits this long, and not for the next try.
        world.run(for: .seconds(8))
        #expect(world.publishers[one].gone == [number] && world.zone == before)
    }

    @Test(
        "what a gateway counts of the updates that it may make: four for a host's first service and its last, one and two for others"
    )
    func updatesOfAHost() throws {
        var world = Self.simulation()
        let host = try world.add(Self.id(1), host: "gw-1", lease: 3600)
        let first = try world.publish("a", by: host)
        world.run(for: .seconds(20))
        #expect(world.publishers[host].facts[first]?.state == .established && world.updates <= 4)
        var before = world.updates
        let second = try world.publish("b", by: host)
        world.run(for: .seconds(20))
        #expect(world.updates - before <= 1)
        before = world.updates
        world.withdraw(second, by: host)
        world.run(for: .seconds(20))
        #expect(world.updates - before <= 2)
        before = world.updates
        world.withdraw(first, by: host)
        world.run(for: .seconds(20))
        #expect(world.publishers[host].gone == [first, second] && world.updates - before <= 4)
    }

    @Test func aNameThatIsTakenGetsANumber() throws {
        var world = Self.simulation()
        let publishers = try (0..<5).map { try world.add(Self.id(UInt64($0) + 1), host: "h\($0)") }
        for index in publishers { try world.publish("tony", by: index) }
        world.run(for: .seconds(60))
        let names = Set(publishers.flatMap { world.publishers[$0].facts.values.map(\.name.text) })
        #expect(names == ["tony", "tony #2", "tony #3", "tony #4", "tony #5"])
        let fails = try world.add(Self.id(9), host: "h9")
        let number = try world.publish("tony", by: fails, onConflict: .fail)
        world.run(for: .seconds(20))
        guard case .conflicted(let error) = world.publishers[fails].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[fails].facts[number]))")
            return
        }
        #expect(error.code == .nameTaken)
    }

    @Test func aHostNameThatIsTakenGetsANumber() throws {
        var world = Self.simulation()
        for number in 1...3 {
            let index = try world.add(Self.id(UInt64(number)), host: "h1")
            try world.publish("s\(number)", by: index)
        }
        world.run(for: .seconds(60))
        for host in ["h1", "h1-2", "h1-3"] {
            #expect(
                world.zone.records.keys.contains { "\($0.name)" == "\(host).home.example.org." && $0.type == .a },
                "\(host)")
        }
    }

    @Test func aHostThatIsThereWithoutOwnerIsPointedTo() throws {
        var world = Self.simulation()
        let name = try #require(try ZoneSimulation.layout().host("h1"))
        world.zone.records[.init(name: name, type: .a)] = [.a(0x0A00_0001)]
        let before = world.zone
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(20))
        #expect(world.publishers[one].facts[number]?.state == .established)
        #expect(world.zone.records[.init(name: name, type: .dhcid)] == nil)
        world.withdraw(number, by: one)
        world.run(for: .seconds(20))
        #expect(world.zone == before)
    }

    @Test("a host's new addresses are refused once, and then written: its services are there again")
    func addressesAreRefusedOnce() throws {
        var world = Self.simulation()
        let one = try world.add(Self.id(1), host: "h1", lease: 7200)
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(30))
        #expect(world.publishers[one].facts[number]?.state == .established)
        world.zone.forbidden = [try #require(try ZoneSimulation.layout().host("h1"))]
        world.publishers[one].rules.addressesBecame([.v4(IPv4Address(bits: 0x0A00_0063))])
        world.turn(one)
        world.run(for: .seconds(20))
        guard case .refused = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        world.zone.forbidden = []
        world.run(for: .seconds(60))
        #expect(world.publishers[one].facts[number]?.state == .established)
    }

    @Test func manyServicesNeedFewMessagesAndOneRenewal() throws {
        var world = Self.simulation()
        let one = try world.add(Self.id(1), host: "h1", lease: 7200)
        for number in 0..<250 {
            try world.publish("s\(number)", type: "_t\(number % 5)._tcp", by: one)
        }
        world.run(for: .seconds(60))
        #expect(world.publishers[one].facts.values.filter { $0.state == .established }.count == 250)
        #expect(world.updates < 14, "\(world.updates)")
        world.run(for: .seconds(7200))
        let soFar = world.updates
        world.run(for: .seconds(36000))
        #expect((9...13) ~= world.updates - soFar, "\(world.updates - soFar)")
    }

    @Test func whoHasGoneIsTakenBackAndWhoComesBackIsTheSame() throws {
        var world = Self.simulation()
        let first = try world.add(Self.id(1), host: "h1")
        try world.publish("tony", by: first, subtypes: ["_printer"])
        let second = try world.add(Self.id(2), host: "h2")
        let kept = try world.publish("other", by: second)
        world.run(for: .seconds(20))
        world.crash(first)
        let third = try world.add(Self.id(1), isKnown: true, host: "h1", address: 0x0A00_0001)
        let again = try world.publish("tony", by: third)
        world.run(for: .seconds(30))
        #expect(world.publishers[third].facts[again]?.name.text == "tony")
        #expect(world.publishers[third].facts[again]?.state == .established)
        #expect(!world.zone.records.keys.contains { "\($0.name)".hasPrefix("_printer") })
        world.crash(third)
        world.run(for: .seconds(40 + 10))
        #expect(!world.zone.records.values.contains { "\($0)".contains("tony") })
        #expect(!world.zone.records.keys.contains { "\($0.name)".hasPrefix("h1") })
        #expect(world.publishers[second].facts[kept]?.state == .established)
        world.withdraw(kept, by: second)
        world.run(for: .seconds(20))
        #expect(world.zone == ScriptedZone())
    }

    /// Its rounds take longer than an eighth of the lease.
    @Test(arguments: 0..<5) func whoHasGoneIsTakenBackOverASlowWay(seed: Int) throws {
        var world = Self.simulation(UInt64(seed))
        world.latency = .milliseconds(500)
        let gone = try world.add(Self.id(1), host: "h1", lease: 20)
        try world.publish("tony", by: gone)
        let watcher = try world.add(Self.id(2), host: "h2", lease: 20)
        let kept = try world.publish("other", by: watcher)
        world.run(for: .seconds(60))
        #expect(world.zone.records.values.contains { "\($0)".contains("tony") }, "it lives")
        world.crash(gone)
        world.run(for: .seconds(90))
        #expect(!world.zone.records.values.contains { "\($0)".contains("tony") })
        #expect(world.publishers[watcher].facts[kept]?.state == .established)
    }

    /// A publisher is stopped for longer than its lease, and wakes up while the janitor takes it back.
    @Test("a host whose addresses were not looked at yet is not said to have none")
    func addressesNotLookedAt() throws {
        var world = ZoneSimulation(seed: 1)
        var generator = SeededGenerator(seed: 1)
        let id = PublisherID(using: &generator)
        let one = try world.add(id, host: "h1")
        world.publishers[one].rules = ZonePublisher(
            try ZoneSimulation.layout(), id: id, isKnown: false, host: "h1", ttl: 60, leaseSeconds: 40, seed: 1)
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(15))
        #expect(world.publishers[one].facts[number]?.state == .registering)
        world.publishers[one].rules.addressesBecame([])
        world.turn(one)
        guard case .waiting = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
    }

    @Test(arguments: 0..<rounds(40)) func whoWakesUpWhileItIsTakenBackLosesNothing(seed: Int) throws {
        var world = Self.simulation(UInt64(seed))
        let sleeper = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: sleeper, subtypes: ["_printer"])
        let other = try world.add(Self.id(2), host: "h2")
        try world.publish("other", by: other)
        world.run(for: .seconds(60))
        let service = try #require(world.publishers[sleeper].services[number])
        let id = world.publishers[sleeper].rules.id
        let lease = ScriptedZone.Place(name: world.publishers[sleeper].rules.layout.lease(of: id), type: .txt)
        (world.publishers[sleeper].isStalled, world.publishers[sleeper].mayHaveLost) = (true, true)
        // Half of them wake up with the janitor's first update, the others when their records are gone.
        let before = world.zone.records[lease]
        let end = world.now + .seconds(60)
        while seed % 2 == 0 ? world.zone.records[lease] == before : world.has(service, as: service.name, id: id) {
            world.run(for: .milliseconds(10))
            guard world.now < end else { throw Missed() }
        }
        world.run(for: .milliseconds(Int64.random(in: 0...2000, using: &world.random)))
        world.publishers[sleeper].isStalled = false
        world.turn(sleeper)
        world.run(for: .seconds(60))
        #expect(world.publishers[sleeper].facts[number]?.name == service.name)
        #expect(world.has(service, as: service.name, id: id))
        #expect(world.zone.records[lease] != nil)
        world.crash(other)
        world.run(for: .seconds(60))
        #expect(world.has(service, as: service.name, id: id))
        world.withdraw(number, by: sleeper)
        world.run(for: .seconds(30))
        #expect(world.zone == ScriptedZone())
    }

    private struct Missed: Error {}

    @Test func whatAnEarlierProcessLeftGoes() throws {
        var world = Self.simulation()
        let first = try world.add(Self.id(1), host: "h1")
        try world.publish("old", by: first)
        world.run(for: .seconds(20))
        world.crash(first)
        let second = try world.add(Self.id(1), isKnown: true, host: "h9")
        let number = try world.publish("new", by: second)
        world.run(for: .seconds(30))
        #expect(world.publishers[second].facts[number]?.state == .established)
        #expect(!world.zone.records.values.contains { "\($0)".contains("old") })
        #expect(!world.zone.records.keys.contains { "\($0.name)".hasPrefix("h1") })
    }

    @Test func theServersLimitIsTold() throws {
        var world = Self.simulation()
        world.zone.mostRecords = 100
        let one = try world.add(Self.id(1), host: "h1", lease: 7200)
        for number in 0..<101 { try world.publish("s\(number)", by: one) }
        world.run(for: .seconds(120))
        let facts = world.publishers[one].facts.values
        #expect(facts.filter { $0.state == .established }.count == 100)
        #expect(
            facts.contains {
                if case .failed(let error) = $0.state {
                    error.code == .serverLimitReached && error.message.contains("100")
                } else {
                    false
                }
            })
    }

    @Test func roomThatWasMadeIsTakenAtOnceByWhatWasRefused() throws {
        var world = Self.simulation()
        world.zone.mostRecords = 100
        let one = try world.add(Self.id(1), host: "h1", lease: 7200)
        let numbers = try (0..<112).map { try world.publish("s\($0)", by: one, isPersistent: true) }
        // Long enough that each tries again seldom.
        world.run(for: .seconds(200))
        let established = numbers.filter { world.publishers[one].facts[$0]?.state == .established }
        #expect(established.count == 100)
        for number in established.prefix(12) { world.withdraw(number, by: one) }
        world.run(for: .seconds(8))
        #expect(world.publishers[one].facts.values.count { $0.state == .established } == 100)
    }

    @Test func aServerThatWasAwayForLongerThanALeaseCostsNothing() throws {
        var world = Self.simulation()
        let publishers = try (1...4).map { try world.add(Self.id(UInt64($0)), host: "h\($0)") }
        for index in publishers { try world.publish("s\(index)", by: index) }
        world.run(for: .seconds(30))
        world.isServerUp = false
        world.run(for: .seconds(200))
        #expect(
            publishers.allSatisfy {
                world.publishers[$0].facts.values.allSatisfy { if case .waiting = $0.state { true } else { false } }
            })
        world.isServerUp = true
        world.run(for: .seconds(60))
        #expect(publishers.allSatisfy { world.publishers[$0].facts.values.allSatisfy { $0.state == .established } })
        #expect(publishers.allSatisfy { world.publishers[$0].rules.reaped == 0 })
    }

    @Test func anOlderZoneIsPublishedToAgain() throws {
        var world = Self.simulation()
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(8))
        world.publishers[one].mayHaveLost = true
        world.zone = ScriptedZone()
        world.run(for: .seconds(60))
        let publisher = world.publishers[one]
        let service = try #require(publisher.services[number])
        #expect(world.has(service, as: service.name, id: publisher.rules.id))
    }

    @Test func portAndTextAreReplacedInOneMessage() throws {
        var world = Self.simulation()
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("tony", by: one)
        world.run(for: .seconds(10))
        let before = world.updates
        let (port, txt) = (try Port(9001), try TXTRecord(["a": "2"]))
        world.publishers[one].rules.update(number) { ($0.port, $0.txt) = (port, txt) }
        world.turn(one)
        world.run(for: .seconds(5))
        #expect(world.updates == before + 1)
        #expect(world.zone.records.values.contains([.txt([3] + Array("a=2".utf8))]))
        let ports = world.zone.records.values.joined().compactMap { data in
            if case .srv(_, _, let port, _) = data { port } else { nil }
        }
        #expect(ports == [9001])
    }

    /// Publishers that come, crash, stop and return, with messages that are lost, late and doubled: nothing that is held is ever lost, and
    /// nothing stays for ever.
    @Test(arguments: 0..<rounds(8) + 2) func whateverHappens(seed: Int) throws {
        var world = Self.simulation(UInt64(seed))
        var ids: [(id: PublisherID, current: Int?)] = []
        for number in 0..<4 { ids.append((Self.id(UInt64(seed * 10 + number)), nil)) }
        world.loss = seed % 3 == 0 ? 0 : 8
        world.repeats = 5
        for _ in 0..<40 {
            let chosen = Int.random(in: 0..<ids.count, using: &world.random)
            switch (Int.random(in: 0..<10, using: &world.random), ids[chosen].current) {
            case (_, nil):
                let index = try world.add(
                    ids[chosen].id, isKnown: true, host: "host\(Int.random(in: 0..<3, using: &world.random))",
                    address: 0x0A00_0001 + UInt32(chosen))
                ids[chosen].current = index
                fallthrough
            case (0...3, _):
                guard let index = ids[chosen].current else { continue }
                try world.publish(
                    "s\(Int.random(in: 0..<4, using: &world.random))",
                    type: "_t\(Int.random(in: 0..<2, using: &world.random))._tcp", by: index,
                    subtypes: Bool.random(using: &world.random) ? ["_a"] : ["_b"])
            case (4...5, let index?):
                guard let number = world.publishers[index].services.keys.sorted().first else { continue }
                world.withdraw(number, by: index)
            case (6, let index?):
                world.crash(index)
                ids[chosen].current = nil
            case (7, let index?):
                world.publishers[index].isStalled = true
                world.publishers[index].mayHaveLost = true
                world.run(for: .seconds(Int64.random(in: 1...120, using: &world.random)))
                world.publishers[index].isStalled = false
                world.turn(index)
            case (8, _):
                world.isServerUp = false
                world.run(for: .seconds(Int64.random(in: 1...100, using: &world.random)))
                world.isServerUp = true
            default: break
            }
            world.run(for: .milliseconds(Int64.random(in: 0...15_000, using: &world.random)))
        }
        // A quiet time, in which everybody gets what is wanted.
        (world.loss, world.repeats) = (0, 0)
        world.run(for: .seconds(240))
        for publisher in world.publishers where publisher.isAlive {
            for (number, service) in publisher.services {
                let fact = try #require(publisher.facts[number])
                #expect(fact.state == .established, "\(fact)")
                #expect(world.has(service, as: fact.name, id: publisher.rules.id), "\(fact)")
            }
        }
        // All but one crash, and that one withdraws in the end.
        let last = try world.add(Self.id(99), host: "last")
        let number = try world.publish("last", by: last)
        for entry in ids { if let index = entry.current { world.crash(index) } }
        world.run(for: .seconds(200))
        world.withdraw(number, by: last)
        world.run(for: .seconds(60))
        #expect(world.zone == ScriptedZone(), "\(world.zone.records.keys.map { "\($0.name) \($0.type)" }.sorted())")
    }
}
