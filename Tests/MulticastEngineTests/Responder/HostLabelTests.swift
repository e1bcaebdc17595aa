import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// The machine's name is another one after a conflict, and the first one again.
@Suite("this machine's name") struct HostLabelTests {
    private static let first = Bench.name("h1.local")
    private static let second = Bench.name("h1-2.local")

    private func label(seed: UInt64 = 1) -> HostLabel { HostLabel("h1", random: SeededGenerator(seed: seed)) }

    @Test("counts up; the first name is asked for after a minute, whatever was lost meanwhile")
    func counts() throws {
        var label = label()
        #expect(label.name == Self.first && label.asksAgain == nil && label.first == nil)
        for second in 0..<24 { label.lost(at: .seconds(second)) }
        #expect(label.name == Bench.name("h1-25.local") && label.first == Self.first && label.asked == nil)
        let due = try #require(label.asksAgain)
        #expect(due >= .seconds(60) && due <= .seconds(75))
        label.ask()
        #expect(label.asked == Self.first && label.asksAgain == nil && label.name == Bench.name("h1-25.local"))
        label.returned(at: .seconds(61))
        #expect(label.name == Self.first && label.asked == nil && label.first == nil)
    }

    @Test("somebody has it: twice as long each time, up to ten minutes; who takes it again and again likewise")
    func backsOff() throws {
        var label = label()
        var now = Duration.zero
        label.lost(at: now)
        for pause in [60, 120, 240, 480, 600, 600] {
            let due = try #require(label.asksAgain)
            #expect((Duration.seconds(pause)...(.seconds(pause) * 1.25)).contains(due - now))
            now = due
            label.ask()
            label.refused(at: now)
            #expect(label.name == Self.second)
        }
        label.ask()
        label.returned(at: now)
        label.lost(at: now + .seconds(60))
        #expect(try #require(label.asksAgain) - now >= .seconds(660))
        label.ask()
        label.returned(at: now)
        label.lost(at: now + .seconds(601))
        #expect(try #require(label.asksAgain) - now < .seconds(700), "it was this machine's for ten minutes")
    }

    @Test("another program of this machine has it: asked for five seconds after the conflict")
    func converges() {
        var label = label()
        label.lost(at: .seconds(10))
        label.isHadByOwnMachine()
        #expect(label.asksAgain == .seconds(15))
        label.ask()
        label.isHadByOwnMachine()
        #expect(label.asked == Self.first && label.asksAgain == nil)
        label.refused(at: .seconds(16))
        label.isHadByOwnMachine()
        #expect(label.asksAgain == .seconds(21))
    }

    @Test("who denies every name is told of, not the service")
    func contested() {
        var label = label()
        for second in 0..<7 { label.lost(at: .seconds(second)) }
        #expect(label.isContested(for: .seconds(6), at: .seconds(6)))
        #expect(!label.isContested(for: .seconds(6), at: .seconds(5)))
        label.established()
        label.lost(at: .seconds(8))
        #expect(!label.isContested(for: .seconds(6), at: .seconds(9)))
    }

    /// A machine that is called h1-2.local, with a service.
    private func renamed() throws -> Bench {
        var bench = Bench()
        bench.responder.claim(.host, Claim(host: Self.second, [Bench.own]), at: bench.now)
        try bench.publish()
        bench.pass(.seconds(10))
        bench.forget()
        bench.responder.claim(.firstName, Claim(host: Self.first, [Bench.own]), at: bench.now)
        return bench
    }

    private func target(_ record: ResourceRecord?) -> DomainName? {
        if case .srv(_, _, _, let target)? = record?.data { target } else { nil }
    }

    @Test(
        "the first name is probed for beside the other; then services point to it, and the other one gets a goodbye; no gap"
    )
    func returns() throws {
        var bench = try renamed()
        bench.pass(.milliseconds(900))
        #expect(bench.probes.count == 3)
        #expect(bench.probes.allSatisfy { $0.message.questions.map(\.name) == [Self.first] })
        bench.ask([Question(Bench.tony, .srv)])
        #expect(target(bench.said(Bench.tony, .srv).last) == Self.second)
        while !bench.facts.contains(.established(.firstName)) { bench.pass(.milliseconds(1)) }
        bench.forget()
        bench.responder.takeFirstName(at: bench.now)
        bench.pass(.milliseconds(1))
        #expect(target(bench.said(Bench.tony, .srv).first) == Self.first, "at once")
        #expect(bench.said(Self.second, .a).isEmpty)
        bench.pass(.milliseconds(1400))
        #expect(bench.said(Bench.tony, .srv).count == 2 && bench.said(Self.second, .a).isEmpty, "said twice")
        bench.pass(.seconds(5))
        #expect(bench.said(Self.second, .a).map(\.ttl) == [0])
        #expect((bench.said(Bench.tony, .srv) + bench.said(Bench.type, .ptr)).allSatisfy { $0.ttl > 0 })
        bench.forget()
        bench.ask([Question(Self.second, .a)])
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty)
        bench.ask([Question(Self.first, .a)])
        #expect(bench.said(Self.first, .a).map(\.ttl) == [120])
        #expect(bench.facts.isEmpty && bench.responder.isStill(.established(.host)))
    }

    @Test("a program that ends meanwhile says goodbye to the former name, too")
    func ends() throws {
        var bench = try renamed()
        while !bench.facts.contains(.established(.firstName)) { bench.pass(.milliseconds(1)) }
        bench.responder.takeFirstName(at: bench.now)
        bench.forget()
        for id in [ClaimID.service(1), .host] { bench.responder.withdraw(id, at: bench.now) }
        bench.pass(.milliseconds(100))
        #expect(bench.responder.isSilent)
        #expect(bench.said(Self.second, .a).map(\.ttl) == [0] && bench.said(Self.first, .a).last?.ttl == 0)
    }

    @Test("another host has it: nothing changes; another program of this machine has it: that is no conflict")
    func refused() throws {
        var bench = try renamed()
        while bench.probes.isEmpty { bench.pass(.milliseconds(1)) }
        bench.hear(
            Other.response(ResourceRecord(Self.first, .a, .a(Bench.own.bits), ttl: 120, flushesCache: true)),
            from: Bench.own, isFromHere: true)
        bench.hear(Other.probe(ResourceRecord(Self.first, .a, .a(.max), ttl: 120)), from: Bench.own, isFromHere: true)
        #expect(bench.facts.isEmpty)
        bench.hear(Other.response(ResourceRecord(Self.first, .a, .a(0x0A00_0009), ttl: 120, flushesCache: true)))
        #expect(bench.facts == [.lost(.firstName)])
        bench.pass(.seconds(5))
        #expect(bench.responses.isEmpty && bench.responder.isStill(.established(.host)))
    }
}

extension IPAddress {
    fileprivate var bits: UInt32 { if case .v4(let v4) = self { v4.bits } else { 0 } }
}
