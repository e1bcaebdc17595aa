import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// Further names of a machine in a zone, and services on them.
@Suite("aliases in a zone") struct ZoneAliasTests {
    private var world = ZoneSimulation(seed: 1)
    private let before: ScriptedZone
    private let domain: Domain
    private let one: Int

    init() throws {
        before = world.zone
        domain = try Domain("home.example.org")
        one = try world.add(Self.id(1), host: "h1")
    }

    private static func id(_ number: UInt64) -> PublisherID {
        var generator = SeededGenerator(seed: number)
        return PublisherID(using: &generator)
    }

    private func alias(_ name: String) throws -> OfferedService {
        try OfferedService(alias: OfferedAlias(name, in: domain))
    }

    private mutating func publish(
        _ name: String, by index: Int, onConflict: ConflictPolicy = .rename, isPersistent: Bool = false
    ) throws -> Int {
        world.publish(try alias(name), by: index, onConflict: onConflict, isPersistent: isPersistent)
    }

    /// A service on an alias.
    private mutating func publish(_ name: String, on alias: String, by index: Int, isPersistent: Bool = false) throws
        -> Int
    {
        var service = try OfferedService(name: name, type: "_http._tcp", domain: domain.text, port: 80)
        service.host = OfferedHost(alias: try OfferedAlias(alias, in: domain))
        return world.publish(service, by: index, isPersistent: isPersistent)
    }

    private func state(_ number: Int, of index: Int) -> PublicationFact.State? {
        world.publishers[index].facts[number]?.state
    }

    private func records(_ name: String, _ type: RecordType) throws -> Set<RecordData> {
        let name = try #require(try ZoneSimulation.layout().host(name))
        return world.zone.records[.init(name: name, type: type)] ?? []
    }

    private func address(_ last: UInt32) -> IPAddress { .v4(IPv4Address(bits: 0x0A00_0000 + last)) }

    private var targets: Set<String> {
        Set(
            world.zone.records.values.flatMap { $0 }.compactMap { data in
                if case .srv(_, _, _, let target) = data { "\(target)" } else { nil }
            })
    }

    @Test("it has the machine's addresses, follows them, and leaves nothing; the machine's own name is not needed")
    mutating func follows() throws {
        let wiki = try publish("wiki", by: one)
        let shop = try publish("shop.wiki", by: one)
        world.run(for: .seconds(10))
        #expect(state(wiki, of: one) == .established && state(shop, of: one) == .established)
        for name in ["wiki", "shop.wiki"] { #expect(try records(name, .a) == [.a(0x0A00_0001)]) }
        #expect(try records("h1", .a).isEmpty)
        world.publishers[one].rules.addressesBecame([address(9), address(10)])
        world.turn(one)
        world.run(for: .seconds(5))
        #expect(try records("wiki", .a) == [.a(0x0A00_0009), .a(0x0A00_000A)])
        world.withdraw(shop, by: one)
        world.run(for: .seconds(5))
        #expect(try records("shop.wiki", .dhcid).isEmpty && records("wiki", .a).count == 2)
        #expect(world.publishers[one].gone == [shop])
        world.withdraw(wiki, by: one)
        world.run(for: .seconds(20))
        #expect(world.zone == before && world.publishers[one].gone == [wiki, shop])
    }

    @Test("a name that another machine has gets a number, or is refused; after that machine's end it is free")
    mutating func conflicts() throws {
        let first = try publish("shop.wiki", by: one)
        world.run(for: .seconds(10))
        let two = try world.add(Self.id(2), host: "h2")
        let renamed = try publish("shop.wiki", by: two)
        let refused = try publish("shop.wiki", by: two, onConflict: .fail)
        let waits = try publish("shop.wiki", by: two, onConflict: .fail, isPersistent: true)
        world.run(for: .seconds(20))
        let fact = try #require(world.publishers[two].facts[renamed])
        #expect(fact.name.text == "shop-2.wiki.home.example.org" && fact.state == .established)
        #expect(try records("shop-2.wiki", .a) == [.a(0x0A00_0002)] && records("shop.wiki", .a) == [.a(0x0A00_0001)])
        guard case .conflicted(let error) = state(refused, of: two), case .refused(let why) = state(waits, of: two)
        else {
            Issue.record("\(world.publishers[two].facts)")
            return
        }
        #expect(error.code == .nameTaken && why.code == .nameTaken)
        world.withdraw(first, by: one)
        world.run(for: .seconds(400))
        #expect(state(waits, of: two) == .established && state(renamed, of: two) == .established)
        #expect(try records("shop.wiki", .a) == [.a(0x0A00_0002)])
    }

    @Test("a name that somebody has without a key is taken; one with this machine's address is used and left")
    mutating func withoutOwner() throws {
        let layout = try ZoneSimulation.layout()
        let others = [("wiki", [RecordData.a(0x0A00_0063)]), ("shop", [.a(0x0A00_0001)])]
        for (label, data) in others {
            world.zone.records[.init(name: try #require(layout.host(label)), type: .a)] = Set(data)
        }
        let left = world.zone
        let wiki = try publish("wiki", by: one)
        let shop = try publish("shop", by: one)
        world.run(for: .seconds(20))
        #expect(world.publishers[one].facts[wiki]?.name.text == "wiki-2.home.example.org")
        #expect(world.publishers[one].facts[shop]?.name.text == "shop.home.example.org")
        #expect(state(wiki, of: one) == .established && state(shop, of: one) == .established)
        #expect(try records("shop", .dhcid).isEmpty)
        for number in [wiki, shop] { world.withdraw(number, by: one) }
        world.run(for: .seconds(20))
        #expect(world.zone == left)
    }

    @Test("a service points to it, and waits for it; it ends with the last that is on it")
    mutating func services() throws {
        let web = try publish("web", on: "wiki", by: one)
        let blog = try publish("blog", on: "WIKI", by: one)
        let plain = try world.publish("plain", by: one)
        let alone = try publish("wiki", by: one)
        world.run(for: .seconds(10))
        for number in [web, blog, plain, alone] { #expect(state(number, of: one) == .established) }
        #expect(targets == ["wiki.home.example.org.", "h1.home.example.org."])
        for number in [alone, web, plain] { world.withdraw(number, by: one) }
        world.run(for: .seconds(20))
        #expect(targets == ["wiki.home.example.org."] && world.publishers[one].gone == [alone, web, plain])
        #expect(try records("wiki", .a).count == 1 && records("h1", .a).isEmpty)
        world.withdraw(blog, by: one)
        world.run(for: .seconds(20))
        #expect(world.zone == before)
    }

    @Test("a service on a name that another machine has is not published: no other name is taken for it")
    mutating func serviceOfATakenName() throws {
        let first = try publish("wiki", by: one)
        world.run(for: .seconds(10))
        let two = try world.add(Self.id(2), host: "h2")
        let ends = try publish("web", on: "wiki", by: two)
        let waits = try publish("blog", on: "wiki", by: two, isPersistent: true)
        world.run(for: .seconds(20))
        guard case .conflicted(let error) = state(ends, of: two), case .refused = state(waits, of: two) else {
            Issue.record("\(world.publishers[two].facts)")
            return
        }
        #expect(error.message == "the name wiki.home.example.org of its host is taken" && targets.isEmpty)
        world.withdraw(first, by: one)
        world.run(for: .seconds(400))
        #expect(state(waits, of: two) == .established && targets == ["wiki.home.example.org."])
    }

    @Test("started again after a crash it has its names; what it does not want any more goes; after the lease all does")
    mutating func crashes() throws {
        _ = try publish("wiki", by: one)
        _ = try publish("shop", by: one)
        world.run(for: .seconds(10))
        world.crash(one)
        let again = try world.add(Self.id(1), isKnown: true, host: "h1", address: 0x0A00_0005)
        let wiki = try publish("wiki", by: again)
        world.run(for: .seconds(30))
        #expect(world.publishers[again].facts[wiki]?.name.text == "wiki.home.example.org")
        #expect(state(wiki, of: again) == .established)
        #expect(try records("wiki", .a) == [.a(0x0A00_0005)] && records("shop", .dhcid).isEmpty)
        let other = try world.add(Self.id(2), host: "h2")
        let number = try world.publish("tony", by: other)
        world.crash(again)
        world.run(for: .seconds(200))
        #expect(try records("wiki", .a).isEmpty && records("wiki", .dhcid).isEmpty)
        world.withdraw(number, by: other)
        world.run(for: .seconds(30))
        #expect(world.zone == before)
    }

    @Test("taken back while the machine slept, it is there again; the name of another machine since then is another")
    mutating func sleeps() throws {
        let wiki = try publish("wiki", by: one)
        let shop = try publish("shop", by: one)
        let two = try world.add(Self.id(2), host: "h2")
        _ = try world.publish("tony", by: two)
        world.run(for: .seconds(10))
        (world.publishers[one].isStalled, world.publishers[one].mayHaveLost) = (true, true)
        world.run(for: .seconds(200))
        #expect(try records("wiki", .a).isEmpty)
        let theirs = try publish("shop", by: two)
        world.run(for: .seconds(10))
        world.publishers[one].isStalled = false
        world.turn(one)
        world.run(for: .seconds(60))
        #expect(state(wiki, of: one) == .established && state(theirs, of: two) == .established)
        #expect(try records("wiki", .a) == [.a(0x0A00_0001)] && records("shop", .a) == [.a(0x0A00_0002)])
        #expect(world.publishers[one].facts[shop]?.name.text == "shop-2.home.example.org")
        #expect(try records("shop-2", .a) == [.a(0x0A00_0001)])
    }

    @Test("the machine's own name may be one; it stays as long as one of both is wanted")
    mutating func ownName() throws {
        let alias = try publish("h1", by: one)
        let service = try world.publish("tony", by: one)
        world.run(for: .seconds(10))
        #expect(state(alias, of: one) == .established && targets == ["h1.home.example.org."])
        world.withdraw(alias, by: one)
        world.run(for: .seconds(20))
        #expect(try records("h1", .a).count == 1 && world.publishers[one].gone == [alias])
        world.withdraw(service, by: one)
        world.run(for: .seconds(20))
        #expect(world.zone == before)
    }

    @Test("a server that refuses the name, or leaves it out without a word: that is said, and other things go on")
    mutating func refused() throws {
        world.zone.forbidden = [try #require(try ZoneSimulation.layout().host("wiki"))]
        let wiki = try publish("wiki", by: one)
        let tony = try world.publish("tony", by: one)
        world.run(for: .seconds(20))
        guard case .failed(let error) = state(wiki, of: one) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        #expect(error.code == .notPermitted && state(tony, of: one) == .established)
        world.zone.omitted = [.a]
        let shop = try publish("shop", by: one)
        world.run(for: .seconds(120))
        guard case .failed(let leftOut) = state(shop, of: one) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        #expect(leftOut.message.contains("leaves records out") && state(tony, of: one) == .established)
        world.zone.omitted = []
        world.withdraw(tony, by: one)
        world.run(for: .seconds(30))
        #expect(world.zone.records.isEmpty)
    }

    @Test("a server that leaves its owner out: that is said, and its addresses go; once the server has it, so has all")
    mutating func ownerLeftOut() throws {
        world.zone.omitted = [.dhcid]
        let wiki = try publish("wiki", by: one)
        _ = try publish("web", on: "blog", by: one)
        world.run(for: .seconds(120))
        guard case .failed(let error) = state(wiki, of: one) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        #expect(error.message.contains("leaves records out"))
        #expect(try records("wiki", .a).isEmpty && records("blog", .a).isEmpty)
        let shop = try publish("shop", by: one, isPersistent: true)
        world.run(for: .seconds(30))
        guard case .refused = state(shop, of: one) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        world.zone.omitted = []
        world.run(for: .seconds(700))
        #expect(state(shop, of: one) == .established)
        #expect(try records("shop", .a).count == 1 && records("shop", .dhcid).count == 1)
    }

    @Test("a service that stays is not at a name that another machine took, and is back after that machine's end")
    mutating func serviceOfANameTakenLater() throws {
        let web = try publish("web", on: "wiki", by: one, isPersistent: true)
        world.run(for: .seconds(10))
        #expect(state(web, of: one) == .established)
        world.publishers[one].mayHaveLost = true
        let name = try #require(try ZoneSimulation.layout().host("wiki"))
        world.zone.records[.init(name: name, type: .dhcid)] = [Self.id(2).ownership(of: name)]
        world.zone.records[.init(name: name, type: .a)] = [.a(0x0A00_0063)]
        world.publishers[one].rules.addressesBecame([address(9)])
        world.turn(one)
        world.run(for: .seconds(20))
        guard case .refused(let error) = state(web, of: one) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        #expect(error.code == .nameTaken && targets.isEmpty)
        for type in [RecordType.a, .dhcid] { world.zone.records[.init(name: name, type: type)] = nil }
        world.run(for: .seconds(400))
        #expect(state(web, of: one) == .established && targets == ["wiki.home.example.org."])
        world.withdraw(web, by: one)
        world.run(for: .seconds(20))
        #expect(world.zone == before)
    }

    @Test("what the server says of its name counts for no other that it has got meanwhile")
    mutating func lateProof() throws {
        let layout = try ZoneSimulation.layout()
        var (zone, rules) = (before, world.publishers[one].rules)
        zone.forbidden = [try #require(layout.host("wiki-2"))]
        var facts: [PublicationFact] = []
        var proof: Int?
        func settle() {
            var goesOn = true
            while goesOn {
                goesOn = false
                for step in rules.next(.zero) {
                    switch step {
                    case .report(_, let fact): facts.append(fact)
                    case .gone: break
                    case .request(let ticket, .update(let update, _)) where update.changes.isEmpty && proof == nil:
                        proof = ticket
                    case .request(let ticket, let request):
                        goesOn = true
                        rules.received(zone.carryOut(request), to: ticket, .zero)
                    }
                }
            }
        }
        _ = rules.publish(try alias("wiki"), onConflict: .rename, isPersistent: true)
        settle()
        let late = try #require(proof)
        let name = try #require(layout.host("wiki"))
        zone.records[.init(name: name, type: .dhcid)] = [Self.id(2).ownership(of: name)]
        rules.addressesBecame([address(9)])
        settle()
        #expect(facts.last?.name.text == "wiki-2.home.example.org")
        rules.received(.outcome(.done), to: late, .zero)
        settle()
        #expect(!facts.contains { $0.state == .established }, "\(facts)")
    }

    @Test("the end of one that has no records of this machine is at once")
    mutating func endsAtOnce() throws {
        let name = try #require(try ZoneSimulation.layout().host("shop"))
        world.zone.records[.init(name: name, type: .a)] = [.a(0x0A00_0001)]
        _ = try publish("wiki", by: one)
        let shop = try publish("shop", by: one)
        world.run(for: .seconds(20))
        #expect(state(shop, of: one) == .established)
        world.withdraw(shop, by: one)
        #expect(world.publishers[one].gone == [shop])
    }

    @Test("as many as one part of the manifest takes, a service counted; then room is made")
    mutating func fullShard() throws {
        let layout = try ZoneSimulation.layout()
        let tony = try world.publish("tony", by: one)
        world.run(for: .seconds(5))
        let shard = try #require(world.publishers[one].rules.items[tony]?.names.shard)
        let labels = (0..<4000).map { "a\($0)" }.filter { layout.host($0).map(ZoneLayout.shard) == shard }
        let numbers = try labels.prefix(ZoneLayout.mostRecords).map { label in
            try publish(label, by: one, onConflict: .fail, isPersistent: true)
        }
        world.run(for: .seconds(60))
        let refused = numbers.filter { state($0, of: one) != .established }
        #expect(refused.count == 1)
        guard case .refused(let error) = refused.first.flatMap({ state($0, of: one) }) else {
            Issue.record("\(world.publishers[one].facts)")
            return
        }
        #expect(error.code == .serverLimitReached)
        world.withdraw(tony, by: one)
        world.run(for: .seconds(400))
        #expect(state(refused[0], of: one) == .established)
    }

    @Test(
        "whatever is lost, late or repeated, each has its name or none, and nothing is left",
        arguments: 0..<UInt64(rounds(40)))
    mutating func storms(_ seed: UInt64) throws {
        world.random = SeededGenerator(seed: seed)
        (world.loss, world.repeats) = (20, 10)
        let two = try world.add(Self.id(2), host: "h2")
        var numbers: [(Int, Int)] = []
        for index in [one, two] {
            for name in ["wiki", "shop.wiki", "h1"] { numbers.append((index, try publish(name, by: index))) }
            numbers.append((index, try publish("web", on: "only\(index)", by: index)))
            numbers.append((index, try world.publish("tony", by: index)))
        }
        world.run(for: .seconds(100))
        world.publishers[two].rules.addressesBecame([address(77)])
        world.turn(two)
        world.run(for: .seconds(100))
        (world.loss, world.repeats) = (0, 0)
        world.run(for: .seconds(200))
        for (index, number) in numbers { #expect(state(number, of: index) == .established, "\(seed) \(number)") }
        let names = numbers.compactMap { world.publishers[$0].facts[$1]?.name.text }
        #expect(Set(names.filter { $0.contains("wiki") }).count == 4, "\(names)")
        world.loss = 20
        for (index, number) in numbers { world.withdraw(number, by: index) }
        world.run(for: .seconds(30))
        world.loss = 0
        world.run(for: .seconds(200))
        #expect(world.zone == before, "\(seed): \(world.zone.records.keys.map(\.name))")
    }

    @Test("an alias of another domain is none here; nor is a service on one")
    mutating func elsewhere() throws {
        var service = try alias("wiki")
        service.domain = try Domain("example.net")
        #expect(service.aliasFault?.code == .invalidHostName)
        var web = try OfferedService(name: "web", type: "_http._tcp", domain: domain.text, port: 80)
        web.host = OfferedHost(alias: try OfferedAlias("wiki"))
        for service in [service, web] {
            let number = world.publish(service, by: one)
            world.run(for: .seconds(5))
            guard case .failed(let error) = state(number, of: one) else {
                Issue.record("\(world.publishers[one].facts)")
                continue
            }
            #expect(error.code == .invalidHostName && world.zone == before)
        }
    }
}
