import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// RFC 6762 §8.3, §8.4, §10.1, §6.6 and §9.
@Suite("announcing, defending and saying goodbye") struct AnnouncingTests {
    @Test("§8.3: three announcements, a second and two apart, all records as answers; then silence")
    func announcements() throws {
        var bench = Bench(families: [.ipv4, .ipv6])
        bench.claimHost()
        try bench.publish(subtypes: ["_printer"])
        bench.pass(.seconds(3600))
        for family in IPAddress.Family.allCases {
            let sent = bench.responses.filter { $0.family == family }
            #expect(sent.count == 3)
            #expect(sent[1].at - sent[0].at == .seconds(1) && sent[2].at - sent[1].at == .seconds(2))
            for message in sent.map(\.message) {
                #expect(message.flags == [.response, .authoritative] && message.id == 0 && message.questions.isEmpty)
                #expect(message.additionals.isEmpty)
                // §10.2: unique records flush caches, shared ones do not. §10: TTLs.
                for record in message.answers {
                    #expect(record.flushesCache == [.srv, .txt, .a].contains(record.type))
                    #expect(record.ttl == ([.srv, .a].contains(record.type) ? 120 : 4500))
                }
                let pointers = Set(message.answers.filter { $0.type == .ptr }.map(\.name))
                #expect(
                    pointers == [
                        Bench.type, Bench.name("_printer._sub._witap._tcp.local"),
                        Bench.name("_services._dns-sd._udp.local"),
                    ])
            }
        }
    }

    @Test("a name that this machine had a moment ago is announced at once, without probes, with its host")
    func takenOver() throws {
        var bench = Bench()
        bench.claimHost(isProven: true)
        try bench.publish(isProven: true)
        let start = bench.now
        bench.pass(.seconds(10))
        #expect(bench.probes.isEmpty)
        #expect(bench.responses.count == 3 && bench.responses[0].at == start)
        #expect(Set(bench.responses[0].records.map(\.type)).isSuperset(of: [.a, .srv, .txt, .ptr]))
        #expect(Set(bench.facts) == [.established(.host), .established(.service(1))])
        bench.responder.restart(at: bench.now)
        bench.pass(.seconds(10))
        #expect(bench.probes.count == 3)
    }

    @Test("§10.1: a service that ends while it is probed for anew has its goodbye")
    func endOfDoubted() throws {
        var bench = try Bench.established()
        bench.responder.restart(at: bench.now)
        bench.pass(.milliseconds(400))
        #expect(!bench.probes.isEmpty && bench.said.isEmpty)
        bench.responder.withdraw(.service(1), at: bench.now)
        bench.pass(.seconds(2))
        #expect(Set(bench.said.filter { $0.ttl == 0 }.map(\.type)).isSuperset(of: [.ptr, .srv, .txt]))
    }

    @Test(
        "§8.4: another TXT record is announced with the cache-flush bit, without probes or goodbyes; §6763 6.1: an empty one is a zero byte"
    )
    func update() throws {
        var bench = try Bench.established()
        #expect(bench.responder.owned.answers(to: Question(Bench.tony, .txt), over: .ipv4).count == 1)
        try bench.publish(txt: TXTRecord(["colour": "red"]))
        bench.pass(.seconds(10))
        let told = bench.said(Bench.tony, .txt)
        #expect(told.count == 3 && told.allSatisfy { $0.flushesCache && $0.ttl == 4500 })
        #expect(Set(told.map(\.data)) == [.txt([10] + Array("colour=red".utf8))])
        #expect(bench.probes.isEmpty && bench.said.allSatisfy { $0.ttl > 0 })
    }

    @Test("§8.4: at most ten changes a minute are announced; the last one is")
    func rapid() throws {
        var bench = try Bench.established()
        for number in 1...100 {
            try bench.publish(txt: TXTRecord(["n": "\(number)"]))
            bench.pass(.milliseconds(1100))
        }
        bench.pass(.seconds(120))
        let told = bench.said(Bench.tony, .txt).map(\.data)
        #expect(Set(told).count <= 21 && told.last == .txt([5] + Array("n=100".utf8)), "\(Set(told).count)")
    }

    @Test("§8.4: an address that goes is not answered, and all others are announced")
    func addresses() throws {
        var bench = try Bench.established()
        bench.claimHost([Bench.own, .v4(IPv4Address(bits: 7))])
        bench.pass(.seconds(1))
        #expect(Set(bench.said(Bench.host, .a).map(\.data)) == [.a(0x0A00_0001), .a(7)])
        bench.pass(.seconds(5))
        bench.forget()
        bench.claimHost([.v4(IPv4Address(bits: 7))])
        bench.pass(.milliseconds(1))
        #expect(bench.said(Bench.host, .a).map(\.data) == [.a(7)] && bench.said(Bench.host, .a)[0].flushesCache)
    }

    @Test("§10.1: goodbyes at once for all that is announced, in few packets; nothing is answered after them")
    func goodbye() throws {
        let names = (1...100).map { "service \($0)" }
        var bench = try Bench.established(names)
        for number in 1...100 { bench.responder.withdraw(.service(UInt64(number)), at: bench.now) }
        bench.pass(.milliseconds(50))
        let gone = bench.said
        #expect(gone.allSatisfy { $0.ttl == 0 } && gone.count == 301)
        #expect(bench.responses.count <= 10, "\(bench.responses.count)")
        #expect(gone.count { $0.name == Bench.name("_services._dns-sd._udp.local") } == 1, "with the last one")
        #expect(bench.responder.isSilent)
        bench.forget()
        bench.ask([Question(Bench.type, .ptr)])
        bench.pass(.seconds(2))
        #expect(bench.sent.isEmpty)
    }

    @Test("§10.1: one of two services ends: the other is answered, and the type stays")
    func oneOfTwo() throws {
        var bench = try Bench.established(["tony", "anna"])
        bench.responder.withdraw(.service(2), at: bench.now)
        bench.pass(.milliseconds(50))
        #expect(Set(bench.said.map(\.name)) == [Bench.type, Bench.name("anna._witap._tcp.local")])
        bench.forget()
        bench.ask([Question(Bench.type, .ptr)])
        bench.pass(.milliseconds(200))
        #expect(bench.said(Bench.type, .ptr).map(\.data) == [.ptr(Bench.tony)])
    }

    @Test("§10.1: what two services say together ends over a family with the last one that is said there")
    func lastOfFamily() throws {
        var bench = try Bench.established(families: [.ipv4, .ipv6])
        try bench.publish("anna", number: 2, over: .ipv4)
        bench.pass(.seconds(10))
        bench.forget()
        bench.responder.withdraw(.service(1), at: bench.now)
        bench.pass(.milliseconds(50))
        let types = Bench.name("_services._dns-sd._udp.local")
        // A goodbye over IPv6 would end it in caches that have one record for both families.
        #expect(!bench.sent.isEmpty && bench.said(types, .ptr).isEmpty)
        bench.forget()
        for family in IPAddress.Family.allCases {
            bench.hear(Message(questions: [Question(types, .ptr)]), over: family)
        }
        bench.pass(.seconds(1))
        #expect(bench.sent.map(\.family) == [.ipv4])
    }

    @Test("§10.1: of two equal services, and of one that changes, nothing ends that is said over the other family")
    func equalOverFamilies() throws {
        var bench = Bench(families: [.ipv4, .ipv6])
        bench.claimHost()
        try bench.publish(number: 1)
        try bench.publish(number: 2, over: .ipv4)
        bench.pass(.seconds(10))
        bench.forget()
        bench.responder.withdraw(.service(1), at: bench.now)
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty)
        bench.forget()
        try bench.publish(number: 2)
        bench.pass(.seconds(10))
        let told = bench.sent.filter { $0.family == .ipv6 }.flatMap(\.records)
        #expect(Set(told.map(\.type)) == [.ptr, .srv, .txt] && told.allSatisfy { $0.ttl > 0 })
        bench.forget()
        try bench.publish(number: 2, over: .ipv4)
        bench.pass(.seconds(10))
        #expect(bench.sent.filter { $0.family == .ipv6 }.isEmpty)
        #expect(bench.sent.flatMap(\.records).allSatisfy { $0.ttl > 0 })
        bench.forget()
        bench.responder.withdraw(.service(2), at: bench.now)
        bench.pass(.seconds(1))
        #expect(Set(bench.said.map(\.type)) == [.ptr, .srv, .txt] && bench.said.allSatisfy { $0.ttl == 0 })
    }

    @Test("of two equal services the one that changes loses the name, which the other one has")
    func equalNoMore() throws {
        for (port, txt) in [(81, TXTRecord()), (80, try TXTRecord(["colour": "red"]))] {
            var bench = Bench()
            bench.claimHost()
            try bench.publish(number: 1)
            try bench.publish(number: 2)
            bench.pass(.seconds(10))
            bench.forget()
            try bench.publish(number: 1, port: port, txt: txt)
            bench.pass(.seconds(5))
            #expect(bench.facts == [.lost(.service(1))] && bench.said.isEmpty)
            for type in [RecordType.srv, .txt] {
                #expect(bench.responder.owned.answers(to: Question(Bench.tony, type), over: .ipv4).count == 1)
            }
            // Alone it may change.
            try bench.publish(number: 2, port: 81)
            bench.pass(.seconds(5))
            #expect(bench.facts == [.lost(.service(1))] && !bench.said(Bench.tony, .srv).isEmpty)
        }
    }

    @Test("§10.1: what is said over IPv4 alone is not said over IPv6 because somebody withdraws it there")
    func rescueOverFamily() throws {
        var bench = Bench(families: [.ipv4, .ipv6])
        bench.claimHost()
        try bench.publish(over: .ipv4)
        bench.pass(.seconds(10))
        bench.forget()
        let forged = ResourceRecord(Bench.type, .ptr, .ptr(Bench.tony), ttl: 0)
        for family in IPAddress.Family.allCases {
            bench.hear(Other.response(forged), over: family)
            bench.pass(.seconds(2))
            #expect(bench.sent.map(\.family) == [.ipv4])
            bench.forget()
        }
    }

    @Test("§9: a record that conflicts with an established one: probes, and keeps the name if nobody answers")
    func doubted() throws {
        var bench = try Bench.established()
        let start = bench.now
        bench.hear(Other.response(Other.srv()))
        bench.pass(.seconds(2))
        #expect(bench.probes.count == 3 && bench.probes[0].at - start >= .milliseconds(20))
        #expect(bench.facts.isEmpty, "established all the time")
        bench.forget()
        bench.ask([Question(Bench.tony, .srv)])
        bench.pass(.seconds(1))
        #expect(bench.said(Bench.tony, .srv).count == 1)
    }

    @Test("§9: and gives it up if somebody does, without goodbyes")
    func lost() throws {
        var bench = try Bench.established()
        bench.hear(Other.response(Other.srv()))
        bench.hear(Other.response(Other.srv()))
        while bench.probes.isEmpty { bench.pass(.milliseconds(10)) }
        bench.hear(Other.response(Other.srv()))
        bench.pass(.seconds(3))
        #expect(bench.facts == [.lost(.service(1))] && bench.sent.allSatisfy { !$0.isResponse })
    }

    @Test("§6.6, §9: equal records, other shared ones, goodbyes of others' and packets off the link are no conflict")
    func noConflict() throws {
        var bench = try Bench.established()
        bench.hear(
            Other.response(ResourceRecord(Bench.type, .ptr, .ptr(Bench.name("eve._witap._tcp.local")), ttl: 4500)))
        bench.hear(Other.response(Other.srv(ttl: 0)))
        bench.hear(Other.response(Other.srv()), port: 1234)
        bench.hear(Other.response(Other.srv()), to: .machine, isOnLink: false)
        let ours = ResourceRecord(
            Bench.tony, .srv, .srv(priority: 0, weight: 0, port: 80, target: Bench.host), ttl: 120, flushesCache: true)
        bench.hear(Other.response(ours))
        bench.pass(.seconds(3))
        #expect(bench.sent.isEmpty)
    }

    @Test(
        "§6.6, §10.1: what is ours and others withdraw or let grow old is said again, once a second",
        arguments: [0, 59, 60] as [UInt32])
    func rescue(_ ttl: UInt32) throws {
        var bench = try Bench.established()
        let forged = Other.response(ResourceRecord(Bench.host, .a, .a(0x0A00_0001), ttl: ttl, flushesCache: true))
        for _ in 0..<3 { bench.hear(forged) }
        bench.pass(.milliseconds(400))
        #expect(bench.said(Bench.host, .a).count == (ttl < 60 ? 1 : 0))
        // Once a second, and before others forget it.
        for _ in 0..<3 { bench.hear(forged) }
        bench.pass(.milliseconds(590))
        #expect(bench.said(Bench.host, .a).count == (ttl < 60 ? 1 : 0))
        bench.pass(.milliseconds(20))
        #expect(bench.said(Bench.host, .a).count == (ttl < 60 ? 2 : 0))
    }

    @Test("§9, §14: the host's name is lost: another one is probed for, and the services point to it")
    func otherHost() throws {
        var bench = try Bench.established()
        let taken = ResourceRecord(Bench.host, .a, .a(99), ttl: 120, flushesCache: true)
        bench.hear(Other.response(taken))
        while bench.probes.isEmpty { bench.pass(.milliseconds(10)) }
        bench.hear(Other.response(taken))
        #expect(bench.facts == [.lost(.host)])
        let second = Bench.name("h1-2.local")
        bench.responder.claim(.host, Claim(host: second, [Bench.own]), at: bench.now)
        bench.forget()
        bench.pass(.seconds(2))
        #expect(bench.facts == [.established(.host)])
        guard case .srv(_, _, _, let target)? = bench.said(Bench.tony, .srv).first?.data else {
            Issue.record("no SRV record")
            return
        }
        #expect(target == second && bench.said(second, .a).count == 2)
    }

    @Test("§8: a link that is back is probed and announced on anew")
    func back() throws {
        var bench = try Bench.established()
        bench.responder.restart(at: bench.now)
        bench.pass(.seconds(1))
        #expect(bench.probes.count == 3 && !bench.said(Bench.tony, .srv).isEmpty && bench.facts.isEmpty)
    }

    @Test("§17: a record larger than the MTU goes alone")
    func large() throws {
        var bench = Bench()
        var txt = TXTRecord()
        for number in 0..<20 { try txt.append(key: "key\(number)", text: String(repeating: "x", count: 200)) }
        bench.claimHost()
        try bench.publish(txt: txt)
        bench.pass(.seconds(10))
        let large = bench.responses.filter { $0.size > 1452 }
        #expect(
            large.count == 3 && large.allSatisfy { $0.message.answers.count == 1 && $0.message.additionals.isEmpty })
    }
}
