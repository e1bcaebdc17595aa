import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// A further name of this machine, beside its own.
@Suite("an alias on a link") struct AliasTests {
    private static let wiki = Bench.name("wiki.local")
    private static let second = IPAddress.v4(IPv4Address(bits: 0x0A00_0007))
    private static let id = ClaimID.other(1)

    private func claim(_ bench: inout Bench, _ addresses: [IPAddress] = [Bench.own]) {
        bench.responder.claim(Self.id, Claim(alias: Self.wiki, addresses, over: nil), at: bench.now)
    }

    private func record(_ address: UInt32) -> ResourceRecord {
        ResourceRecord(Self.wiki, .a, .a(address), ttl: 120, flushesCache: true)
    }

    private func established() -> Bench {
        var bench = Bench()
        bench.claimHost()
        claim(&bench)
        bench.pass(.seconds(10))
        return bench
    }

    @Test("it is probed for, has this machine's addresses, and no name for them leads to it")
    func addresses() {
        let bench = established()
        #expect(Set(bench.facts) == [.established(.host), .established(Self.id)] && bench.facts.count == 2)
        #expect(bench.probes.count == 3)
        #expect(Set(bench.said(Self.wiki, .a).map(\.data)) == [.a(0x0A00_0001)])
        #expect(!bench.said.contains { $0.data == .ptr(Self.wiki) })
    }

    @Test("an address comes, and is told with the others; one goes; with the last word all go")
    func follows() {
        var bench = established()
        bench.forget()
        claim(&bench, [Bench.own, Self.second])
        bench.pass(.seconds(3))
        #expect(bench.facts.isEmpty && bench.probes.isEmpty)
        #expect(Set(bench.said(Self.wiki, .a).map(\.data)) == [.a(0x0A00_0001), .a(0x0A00_0007)])
        bench.forget()
        claim(&bench, [Self.second])
        bench.pass(.seconds(3))
        // The cache-flush bit takes the other away.
        #expect(bench.said(Self.wiki, .a).allSatisfy { $0.data == .a(0x0A00_0007) && $0.flushesCache })
        bench.forget()
        bench.responder.withdraw(Self.id, at: bench.now)
        bench.pass(.seconds(2))
        #expect(bench.said(Self.wiki, .a).map(\.ttl) == [0])
        #expect(bench.said(Bench.host, .a).isEmpty)
    }

    @Test("two publications of this process have it, and it ends with the last")
    func shared() {
        var bench = established()
        bench.responder.claim(.other(2), Claim(alias: Self.wiki, [Bench.own], over: nil), at: bench.now)
        bench.pass(.seconds(5))
        bench.forget()
        bench.responder.withdraw(Self.id, at: bench.now)
        bench.pass(.seconds(2))
        #expect(bench.said.isEmpty)
        bench.responder.withdraw(.other(2), at: bench.now)
        bench.pass(.seconds(2))
        #expect(bench.said(Self.wiki, .a).map(\.ttl) == [0])
    }

    @Test("two publications of this process have it, and get another address one after the other")
    func sharedFollows() {
        var bench = established()
        bench.responder.claim(.other(2), Claim(alias: Self.wiki, [Bench.own], over: nil), at: bench.now)
        bench.pass(.seconds(5))
        bench.forget()
        claim(&bench, [Bench.own, Self.second])
        bench.responder.claim(.other(2), Claim(alias: Self.wiki, [Bench.own, Self.second], over: nil), at: bench.now)
        bench.pass(.seconds(5))
        #expect(bench.facts.isEmpty && bench.said.allSatisfy { $0.ttl > 0 })
        #expect(Set(bench.said(Self.wiki, .a).map(\.data)) == [.a(0x0A00_0001), .a(0x0A00_0007)])
    }

    @Test(
        "an address of this machine is no conflict, from another of its links or programs; any other is, from here too")
    func conflicts() {
        for (address, isFromHere, isLost) in [
            (UInt32(0x0A00_0007), false, false), (0x0A00_0007, true, false), (0x0A00_0009, false, true),
            (0x0A00_0009, true, true),
        ] {
            var bench = Bench()
            bench.responder.machine = [Bench.own, Self.second]
            bench.claimHost()
            claim(&bench)
            bench.pass(.milliseconds(260))
            bench.hear(Other.response(record(address)), isFromHere: isFromHere)
            bench.hear(Other.probe(record(address)), isFromHere: isFromHere)
            bench.pass(.seconds(5))
            #expect(bench.facts.contains(.lost(Self.id)) == isLost, "\(address) \(isFromHere)")
        }
    }

    @Test(
        "another host's that is called so with the machine's own name is lost; a second claim with another's addresses, too"
    )
    func taken() {
        var bench = established()
        bench.forget()
        bench.responder.claim(.other(2), Claim(alias: Bench.host, [Bench.own], over: nil), at: bench.now)
        bench.responder.claim(.other(3), Claim(other: Self.wiki, [Self.second], over: nil), at: bench.now)
        bench.pass(.seconds(2))
        #expect(Set(bench.facts) == [.lost(.other(2)), .lost(.other(3))])
    }

    @Test("a service on an alias waits for it, and points to it")
    func service() throws {
        var service = try OfferedService(name: "tony", type: "_witap._tcp", port: 80)
        service.host = OfferedHost(alias: try OfferedAlias("wiki"))
        let claims = Claim.all(of: service, as: service.name, number: 1, own: [Bench.own])
        #expect(claims.map(\.id) == [Self.id, .service(1)] && claims.last?.claim.after == Self.id)
        var bench = Bench()
        for (id, claim) in claims { bench.responder.claim(id, claim, at: bench.now) }
        bench.pass(.seconds(3))
        #expect(bench.facts == [.established(Self.id), .established(.service(1))])
        let srv = RecordData.srv(priority: 0, weight: 0, port: 80, target: Self.wiki)
        #expect(bench.said(Bench.tony, .srv).allSatisfy { $0.data == srv } && !bench.said(Bench.tony, .srv).isEmpty)
    }
}
