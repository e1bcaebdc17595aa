import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// RFC 6762 §8.1 and §8.2.
@Suite("probing") struct ProbingTests {
    private static let second = Duration.seconds(1)

    @Test(
        "§8.1: three probes of type ANY, 250 ms apart, within 250 ms; established 250 ms after the last; nothing said before",
        arguments: 1...8)
    func threeProbes(_ seed: UInt64) throws {
        var bench = Bench(seed: seed)
        let start = bench.now
        bench.claimHost()
        try bench.publish()
        bench.pass(.milliseconds(1001))
        let times = bench.probes.map(\.at)
        #expect(times.count == 3 && times[0] - start <= .milliseconds(250))
        #expect(times[1] - times[0] == .milliseconds(250) && times[2] - times[1] == .milliseconds(250))
        #expect(bench.facts == [.established(.host), .established(.service(1))])
        #expect(bench.responses.first?.at == times[2] + .milliseconds(250))
        // §8.2: what is claimed, without the cache-flush bit; §10.2.
        for probe in bench.probes.map(\.message) {
            #expect(Set(probe.questions.map(\.name)) == [Bench.host, Bench.tony], "begins together, goes together")
            #expect(probe.questions.allSatisfy { $0.type == .any && $0.wantsUnicastResponse } && probe.answers.isEmpty)
            #expect(Set(probe.authorities.map(\.type)) == [.a, .srv, .txt])
            #expect(probe.authorities.allSatisfy { !$0.flushesCache } && probe.id == 0 && probe.flags == [])
        }
    }

    @Test("§8.1: asks for unicast answers only where they are heard")
    func unheard() {
        var bench = Bench()
        bench.responder.hearsUnicast = false
        bench.claimHost()
        bench.pass(Self.second)
        #expect(!bench.probes.isEmpty)
        #expect(bench.probes.allSatisfy { $0.message.questions.allSatisfy { !$0.wantsUnicastResponse } })
    }

    @Test(
        "§8.1: an answer of any type is a conflict; one before the first probe is not, nor one from another port or of the same data"
    )
    func conflicts() throws {
        let hinfo = ResourceRecord(Bench.tony, .hinfo, .hinfo(cpu: [1], os: [2]), ttl: 120)
        for record in [Other.srv(), hinfo] {
            var bench = Bench()
            bench.claimHost()
            try bench.publish()
            bench.hear(Other.response(record))
            #expect(bench.facts.isEmpty)
            bench.pass(.milliseconds(251))
            bench.hear(Other.response(record), port: 4000)
            bench.hear(Other.response(record), to: .machine, isOnLink: false)
            let same = RecordData.srv(priority: 0, weight: 0, port: 80, target: Bench.host)
            bench.hear(Other.response(ResourceRecord(Bench.tony, .srv, same, ttl: 120)))
            #expect(bench.facts.isEmpty)
            bench.hear(Other.response(record), to: .machine)
            #expect(bench.facts == [.lost(.service(1))])
            bench.pass(.seconds(5))
            #expect(bench.said(Bench.tony, .srv).isEmpty)
        }
    }

    @Test("§8.1: also one that comes after the third probe")
    func late() throws {
        var bench = Bench()
        try bench.publish()
        bench.pass(.milliseconds(250))
        while bench.probes.count < 3 { bench.pass(.milliseconds(10)) }
        bench.pass(.milliseconds(200))
        bench.hear(Other.response(Other.srv()))
        #expect(bench.facts == [.lost(.service(1))])
    }

    private func probed() throws -> Bench {
        var bench = Bench()
        bench.claimHost()
        try bench.publish()
        while bench.probes.isEmpty { bench.pass(.milliseconds(1)) }
        bench.forget()
        return bench
    }

    @Test("§8.2: a tiebreak that is lost: nothing for a second, and then three probes; the name, if nobody has it")
    func deferred() throws {
        var bench = try probed()
        let start = bench.now
        bench.hear(Other.probe(Other.srv(), ResourceRecord(Bench.tony, .txt, .txt([0]), ttl: 4500)))
        bench.pass(.seconds(3))
        let asked = bench.probes.filter { $0.message.questions.contains { $0.name == Bench.tony } }
        #expect(asked.count == 3 && asked[0].at == start + .seconds(1))
        #expect(bench.facts.contains(.established(.service(1))))
    }

    @Test("forged probes that always win do not keep a name for ever; nor do forged answers, once they end")
    func forged() throws {
        var bench = try probed()
        for _ in 0..<600 {
            bench.hear(Other.probe(Other.srv()))
            bench.pass(.milliseconds(20))
        }
        #expect(bench.facts.contains(.established(.service(1))))
    }

    @Test("§11: who is not on the link takes no name by probes, nor does a message with an opcode")
    func offLink() throws {
        var bench = try probed()
        let start = bench.now
        for _ in 0..<20 { bench.hear(Other.probe(Other.srv()), to: .machine, isOnLink: false) }
        var probe = Other.probe(Other.srv())
        probe.flags = Message.Flags(rawValue: 5 << 11)
        bench.hear(probe)
        bench.pass(.seconds(1))
        #expect(bench.facts.contains(.established(.service(1))) && bench.now - start <= .seconds(1))
    }

    @Test("§8.2: one that is won, or of equal records, changes nothing")
    func undisturbed() throws {
        let ours = RecordData.srv(priority: 0, weight: 0, port: 80, target: Bench.host)
        let equal = [
            ResourceRecord(Bench.tony, .txt, .txt([0]), ttl: 4500), ResourceRecord(Bench.tony, .srv, ours, ttl: 120),
        ]
        let less = [ResourceRecord(Bench.tony, .a, .a(1), ttl: 120)]
        for theirs in [equal, less] {
            var bench = try probed()
            bench.hear(Message(questions: [Question(Bench.tony, .any)], authorities: theirs))
            bench.pass(.seconds(1))
            #expect(bench.facts.contains(.established(.service(1))))
        }
    }

    @Test("§8.1: fifteen conflicts in ten seconds: five seconds before each further attempt")
    func slowed() throws {
        var bench = Bench()
        bench.claimHost()
        bench.pass(Self.second * 5)
        bench.forget()
        for _ in 0..<15 {
            try bench.publish()
            while bench.probes.isEmpty { bench.pass(.milliseconds(10)) }
            bench.hear(Other.response(Other.srv()))
            #expect(bench.facts == [.lost(.service(1))])
            bench.forget()
        }
        let start = bench.now
        try bench.publish()
        while bench.probes.isEmpty { bench.pass(.milliseconds(10)) }
        #expect(bench.probes[0].at - start >= .seconds(5) && bench.probes[0].at - start < .seconds(6))
        bench.pass(.seconds(2))
        #expect(bench.facts == [.established(.service(1))])
    }

    @Test(
        "a service says nothing while its host has no name, and what was told of a claim counts while it has that name")
    func hostLost() throws {
        var bench = Bench()
        bench.claimHost()
        try bench.publish()
        bench.pass(.milliseconds(251))
        while bench.probes.count < 3 { bench.pass(.milliseconds(10)) }
        let taken = ResourceRecord(Bench.host, .a, .a(0x0A00_0063), ttl: 120, flushesCache: true)
        bench.hear(Other.response(taken))
        #expect(bench.facts == [.lost(.host)] && bench.responder.isStill(.lost(.host)))
        bench.pass(.seconds(2))
        #expect(bench.responses.isEmpty)
        bench.claimHost()
        #expect(!bench.responder.isStill(.lost(.host)) && !bench.responder.isStill(.established(.host)))
        bench.pass(.seconds(2))
        #expect(bench.responder.isStill(.established(.host)) && !bench.said(Bench.tony, .srv).isEmpty)
    }

    @Test("§14: this machine's other programs and links have its name, too")
    func ownMachine() {
        var bench = Bench()
        bench.claimHost()
        bench.pass(.milliseconds(300))
        let other = IPAddress.v4(IPv4Address(bits: 0x0A00_0009))
        bench.responder.machine = [Bench.own, other]
        let record = ResourceRecord(Bench.host, .a, .a(0x0A00_0009), ttl: 120, flushesCache: true)
        bench.hear(Other.response(record), from: other)
        bench.hear(Other.probe(ResourceRecord(Bench.host, .a, .a(0xFFFF_FFFF), ttl: 120)), isFromHere: true)
        bench.pass(.seconds(1))
        #expect(bench.facts == [.established(.host)])
        bench.hear(Other.response(record), from: other)
        bench.pass(.seconds(2))
        #expect(bench.probes.count == 3)
    }

    @Test("two claims of one process with one name: the second is lost, unless it says the same")
    func local() throws {
        var bench = Bench()
        bench.claimHost()
        bench.pass(Self.second * 5)
        bench.forget()
        try bench.publish(port: 80)
        try bench.publish(number: 2, port: 81)
        try bench.publish(number: 3, port: 80)
        bench.pass(.seconds(1))
        #expect(Set(bench.facts) == [.lost(.service(2)), .established(.service(1)), .established(.service(3))])
    }

    @Test("§8.2: bytes are unsigned, types come before data, the longer list wins, names are whole")
    func tiebreak() {
        func a(_ bits: UInt32) -> ResourceRecord { ResourceRecord(Bench.host, .a, .a(bits), ttl: 120) }
        let aaaa = ResourceRecord(Bench.host, .aaaa, .aaaa(high: 0, low: 0), ttl: 120)
        // The RFC's own example: 169.254.200.50 wins over 169.254.99.200.
        #expect(Tiebreak(ours: [a(0xA9FE_63C8)], theirs: [a(0xA9FE_C832)]) == .lost)
        #expect(Tiebreak(ours: [a(0xA9FE_C832)], theirs: [a(0xA9FE_63C8)]) == .won)
        #expect(Tiebreak(ours: [a(.max)], theirs: [aaaa]) == .lost)
        #expect(Tiebreak(ours: [a(1), aaaa], theirs: [aaaa, a(1)]) == .equal)
        #expect(Tiebreak(ours: [a(1)], theirs: [a(1), a(2)]) == .lost)
        #expect(Tiebreak(ours: [a(1), aaaa], theirs: [a(1)]) == .won)
        func srv(_ host: String) -> ResourceRecord {
            ResourceRecord(
                Bench.tony, .srv, .srv(priority: 0, weight: 0, port: 80, target: Bench.name(host)), ttl: 120)
        }
        #expect(Tiebreak(ours: [srv("b.local")], theirs: [srv("a.longer.local")]) == .won)
    }

    @Test(
        "§8.1: a thousand names in packets below the MTU, some twenty a packet; established 250 ms after the last packet of the last probe"
    )
    func many() throws {
        var bench = Bench()
        bench.claimHost()
        for number in 1...1000 { try bench.publish("service \(number)", number: UInt64(number)) }
        let start = bench.now
        bench.pass(.seconds(3))
        #expect(bench.facts.count == 1001)
        #expect(bench.probes.allSatisfy { $0.size <= 1452 } && bench.probes.count < 3 * 60, "\(bench.probes.count)")
        let (last, first) = (bench.probes.last?.at ?? .zero, bench.responses.first?.at ?? .zero)
        #expect(first - last >= .milliseconds(250), "\(first - last)")
        #expect(first - start <= .milliseconds(1250), "\(first - start)")
        for round in 0..<2 {
            let part = bench.probes.count / 3
            #expect(bench.probes[(round + 1) * part].at - bench.probes[(round + 1) * part - 1].at >= .milliseconds(240))
        }
        // Paced: no receiver's buffer overflows.
        for packet in bench.sent {
            let burst = bench.sent.count { $0.at >= packet.at && $0.at < packet.at + .milliseconds(30) }
            #expect(burst <= 41)
        }
    }

    // MARK: A claim for another host

    private func published(for original: String) throws -> Bench {
        var bench = Bench()
        bench.claimHost()
        var service = try OfferedService(name: "tony", type: "_witap._tcp", port: 80)
        service.host = try OfferedHost(name: HostName("h2-iot.local"), addresses: [Bench.neighbour])
        service.original = try HostName(original)
        for (id, claim) in Claim.all(of: service, as: service.name, number: 1, own: [Bench.own]) {
            bench.responder.claim(id, claim, at: bench.now)
        }
        bench.pass(.seconds(10))
        #expect(bench.facts.contains(.established(.service(1))))
        bench.forget()
        return bench
    }

    @Test("a service that is another host's gives way to that host's probe at once: no defence, no goodbye")
    func givesWay() throws {
        var bench = try published(for: "H2.local")
        let probe = Other.probe(Other.srv())
        bench.hear(probe, to: .machine, isOnLink: false)
        bench.hear(Other.probe(ResourceRecord(Bench.tony, .txt, .txt([0]), ttl: 4500)))
        #expect(bench.facts.isEmpty)
        bench.hear(probe)
        #expect(bench.facts == [.gaveWay(.service(1))])
        let count = bench.said(Bench.tony, .srv).count
        bench.ask([Question(Bench.tony, .any), Question(Bench.type, .ptr)])
        bench.pass(.seconds(5))
        #expect(count <= 1 && bench.said(Bench.tony, .srv).count == count && bench.said(Bench.type, .ptr).isEmpty)
    }

    @Test("a list with it is answered later than a host that comes asks and probes, and other lists are not")
    func hesitates() throws {
        var bench = try published(for: "h2.local")
        bench.ask([Question(Bench.type, .ptr)])
        bench.pass(.milliseconds(250))
        #expect(bench.said.isEmpty)
        bench.hear(Other.probe(Other.srv()))
        bench.pass(.seconds(2))
        #expect(bench.said(Bench.tony, .srv).isEmpty && bench.said(Bench.type, .ptr).isEmpty)
        bench = try published(for: "h2.local")
        bench.ask([Question(Bench.type, .ptr)])
        bench.pass(.milliseconds(370))
        #expect(bench.said(Bench.type, .ptr).count == 1)
        bench = try Bench.established()
        bench.ask([Question(Bench.type, .ptr)])
        bench.pass(.milliseconds(120))
        #expect(bench.said(Bench.type, .ptr).count == 1)
    }

    @Test("so it does where that host has the name already, or says so; another host's records are a conflict as ever")
    func givesWayToAnswers() throws {
        var bench = try published(for: "h2.local")
        bench.hear(Other.response(Other.srv(ttl: 0)))
        #expect(bench.facts.isEmpty)
        bench.hear(Other.response(Other.srv()))
        #expect(bench.facts == [.gaveWay(.service(1))])
        bench = try published(for: "h3.local")
        bench.hear(Other.probe(Other.srv()))
        bench.pass(.milliseconds(250))
        #expect(!bench.said(Bench.tony, .srv).isEmpty, "defended")
        bench.hear(Other.response(Other.srv()))
        bench.pass(.milliseconds(300))
        bench.hear(Other.response(Other.srv()))
        #expect(bench.facts == [.lost(.service(1))])
    }
}
