import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// RFC 6762 §5.4 to §7.4, and RFC 6763 §9 and §12.
@Suite("answering") struct AnsweringTests {
    private static let list = Question(Bench.type, .ptr)
    private static let pointer = ResourceRecord(Bench.type, .ptr, .ptr(Bench.tony), ttl: 4500)

    @Test(
        "§6: a shared record after a random 20 to 120 ms, with all that its reader will ask for (6763 §12)",
        arguments: 1...8)
    func shared(_ seed: UInt64) throws {
        var bench = try Bench.established()
        bench.pass(.milliseconds(Int(seed)))
        let start = bench.now
        bench.ask([Self.list])
        bench.pass(.seconds(1))
        let answer = try #require(bench.sent.first)
        #expect(bench.sent.count == 1 && answer.host == nil)
        #expect((Duration.milliseconds(20)...Duration.milliseconds(120)).contains(answer.at - start))
        #expect(answer.message.answers == [Self.pointer] && answer.message.flags == [.response, .authoritative])
        #expect(Set(answer.message.additionals.map(\.type)) == [.srv, .txt, .a, .nsec])
    }

    @Test("§6: a unique one at once; several questions in a packet after a wait, together (§6.3)")
    func unique() throws {
        var bench = try Bench.established()
        let start = bench.now
        bench.ask([Question(Bench.tony, .srv)])
        #expect(bench.sent.map(\.at) == [start] && bench.sent[0].message.answers.map(\.type) == [.srv])
        #expect(Set(bench.sent[0].message.additionals.map(\.type)) == [.a, .nsec])
        bench.pass(.seconds(2))
        bench.forget()
        let then = bench.now
        bench.ask([Question(Bench.tony, .srv), Question(Bench.host, .a)])
        bench.pass(.seconds(1))
        #expect(bench.sent.count == 1 && bench.sent[0].at - then >= .milliseconds(20))
        #expect(Set(bench.sent[0].message.answers.map(\.type)) == [.srv, .a])
    }

    @Test("§6.4: questions one after the other: one packet")
    func aggregated() throws {
        var bench = try Bench.established(["tony", "anna"])
        bench.ask([Self.list])
        bench.ask([Question(Bench.name("_services._dns-sd._udp.local"), .ptr)])
        bench.ask([Question(Bench.tony, .txt), Question(Bench.host, .a)])
        bench.pass(.seconds(1))
        #expect(bench.sent.count <= 2, "\(bench.sent.count)")
        #expect(bench.said(Bench.type, .ptr).count == 2)
    }

    @Test(
        "§6.5: type and class ANY; §16: names without case, in their own spelling; §18: id and flags of a question do not matter"
    )
    func forms() throws {
        var bench = try Bench.established()
        bench.ask([Question(Bench.name("TONY._WITAP._TCP.LOCAL"), .any, recordClass: .any)])
        bench.pass(.seconds(1))
        #expect(Set(bench.sent[0].message.answers.map(\.type)) == [.srv, .txt])
        #expect(bench.sent[0].message.answers.allSatisfy { $0.name.wire == Bench.tony.wire })
        bench.forget()
        bench.pass(.seconds(2))
        bench.hear(
            Message(id: 77, flags: [.recursionDesired, .authoritative], questions: [Question(Bench.host, .a)]))
        #expect(bench.said(Bench.host, .a).count == 1 && bench.sent[0].message.id == 0)
    }

    @Test("§18.3, §18.11, §6: silent to other opcodes, response codes, classes, and names of others")
    func silent() throws {
        var bench = try Bench.established()
        for bits: UInt16 in [5 << 11, 3] { bench.ask([Question(Bench.host, .a)], flags: .init(rawValue: bits)) }
        bench.ask([Question(Bench.host, .a, recordClass: RecordClass(rawValue: 3))])
        bench.ask([Question(Bench.name("h2.local"), .a), Question(Bench.name("_other._tcp.local"), .ptr)])
        bench.ask([Question(Bench.type, .txt)])
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty)
    }

    @Test("§6.1: a type that a name of its own has not: NSEC with the true types, its own name, no NSEC bit")
    func negative() throws {
        var bench = try Bench.established()
        for (name, type, types) in [
            (Bench.host, RecordType.aaaa, [RecordType.a]), (Bench.tony, .a, [.txt, .srv]), (Bench.host, .nsec, [.a]),
        ] {
            bench.ask([Question(name, type)])
            let record = try #require(bench.sent.first?.message.answers.first)
            #expect(record.type == .nsec && record.flushesCache && record.name == name)
            #expect(record.data == .nsec(next: name, types: TypeBitmap(types)))
            bench.pass(.seconds(2))
            bench.forget()
        }
    }

    @Test(
        "§4: an address leads to the host; 6763 §9: types are listed, subtypes are not; §7.1: subtypes list the instance"
    )
    func names() throws {
        var bench = Bench()
        bench.claimHost()
        try bench.publish(subtypes: ["_printer"])
        bench.pass(.seconds(10))
        for (question, answer) in [
            ("1.0.0.10.in-addr.arpa", Bench.host), ("_services._dns-sd._udp.local", Bench.type),
            ("_printer._sub._witap._tcp.local", Bench.tony),
        ] {
            bench.forget()
            bench.ask([Question(Bench.name(question), .ptr)])
            bench.pass(.seconds(2))
            #expect(bench.sent.first?.message.answers.map(\.data) == [.ptr(answer)], "\(question)")
        }
    }

    @Test("names of addresses are told, but not to who probes for them: an avahi-daemon of another host name does")
    func reverse() throws {
        var bench = try Bench.established()
        let name = Bench.name("1.0.0.10.in-addr.arpa")
        let other = ResourceRecord(name, .ptr, .ptr(Bench.name("h9.local")), ttl: 120)
        bench.hear(Other.probe(other), isFromHere: true)
        bench.hear(Other.response(other), isFromHere: true)
        bench.pass(.seconds(2))
        #expect(bench.sent.isEmpty && bench.facts.isEmpty)
    }

    @Test("§6: no record twice within a second, but one that defends its name against a probe, after 250 ms")
    func onceASecond() throws {
        var bench = try Bench.established()
        let start = bench.now
        for _ in 0..<30 {
            bench.ask([Question(Bench.host, .a)])
            bench.pass(.milliseconds(100))
        }
        let times = bench.sent.map { $0.at - start }
        // The last question is answered when the second is over.
        #expect(times == [.zero, .seconds(1), .seconds(2), .seconds(3)], "\(times)")
        bench.pass(.seconds(2))
        bench.forget()
        bench.ask([Question(Bench.tony, .srv)])
        let then = bench.now
        bench.pass(.milliseconds(100))
        bench.hear(Other.probe(Other.srv()))
        bench.pass(.milliseconds(300))
        let defences = bench.sent.filter { $0.at > then && $0.message.answers.contains { $0.type == .srv } }
        #expect(defences.map { $0.at - then } == [.milliseconds(250)])
    }

    @Test(
        "§5.4: QU by unicast if said within a quarter of the TTL, else to the group; §11: never to who is not on the link"
    )
    func unicast() throws {
        var bench = try Bench.established()
        bench.ask([Question(Bench.host, .a, wantsUnicastResponse: true)])
        #expect(bench.sent.map(\.host) == [.init(address: Bench.neighbour, port: 5353)])
        bench.forget()
        bench.pass(.seconds(31))
        bench.ask([Question(Bench.host, .a, wantsUnicastResponse: true)])
        #expect(bench.sent.map(\.host) == [nil], "a quarter of its TTL ago")
        bench.forget()
        bench.pass(.seconds(2))
        bench.hear(Message(questions: [Question(Bench.host, .a, wantsUnicastResponse: true)]), isOnLink: false)
        #expect(bench.sent.map(\.host) == [nil])
        bench.forget()
        bench.pass(.seconds(2))
        bench.ask([Question(Bench.host, .a, wantsUnicastResponse: true), Question(Bench.tony, .txt)])
        bench.pass(.seconds(1))
        #expect(Set(bench.sent.map { $0.host == nil }) == [true, false], "each in its way")
    }

    @Test("§5.5: a question to this machine alone is answered to the asker, if it is on the link")
    func direct() throws {
        var bench = try Bench.established()
        bench.hear(Message(questions: [Question(Bench.host, .a)]), to: .machine)
        #expect(bench.sent.map { $0.host?.port } == [5353])
        bench.forget()
        bench.hear(Message(questions: [Question(Bench.host, .a)]), to: .machine, isOnLink: false)
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty)
    }

    @Test(
        "§6.7: a resolver gets its id and question back, TTL 10 at most, no cache-flush bit, a whole SRV target (§18.14), 512 bytes with TC"
    )
    func resolver() throws {
        var bench = try Bench.established((1...40).map { "service \($0)" })
        bench.hear(Message(id: 7, questions: [Question(Bench.host, .a)]), port: 4000)
        let answer = try #require(bench.sent.first)
        #expect(answer.host == .init(address: Bench.neighbour, port: 4000) && bench.sent.count == 1)
        #expect(answer.message.id == 7 && answer.message.questions == [Question(Bench.host, .a)])
        #expect(answer.message.answers.allSatisfy { $0.ttl <= 10 && !$0.flushesCache })
        bench.forget()
        bench.hear(Message(id: 8, questions: [Self.list]), port: 4000)
        bench.pass(.seconds(1))
        #expect(bench.sent.count == 1 && bench.sent[0].size <= 512)
        #expect(bench.sent[0].message.flags.contains(.truncated))
        bench.forget()
        bench.hear(Message(id: 9, questions: [Self.list]), port: 4000, isOnLink: false)
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty, "§11")
    }

    @Test("§7.1: known answers with half their TTL are not given, those with less are; others are answered")
    func known() throws {
        var bench = try Bench.established(["tony", "anna"])
        var record = Self.pointer
        for (ttl, count) in [(2250, 1), (2249, 2)] as [(UInt32, Int)] {
            record.ttl = ttl
            bench.ask([Self.list], known: [record])
            bench.pass(.seconds(2))
            #expect(bench.said(Bench.type, .ptr).count == count)
            bench.forget()
        }
    }

    @Test("§7.2: TC: waits for 400 to 500 ms, and what the same host knows more is not given")
    func truncated() throws {
        var bench = try Bench.established(["tony", "anna", "eve"])
        let start = bench.now
        let known = ["anna", "eve"].map {
            ResourceRecord(Bench.type, .ptr, .ptr(Bench.name("\($0)._witap._tcp.local")), ttl: 4500)
        }
        bench.ask([Self.list], flags: .truncated)
        bench.pass(.milliseconds(50))
        bench.hear(Message(answers: [known[0]]))
        bench.hear(Message(answers: [known[1]]), from: .v4(IPv4Address(bits: 0x0A00_0003)))
        bench.pass(.seconds(1))
        let answers = bench.said(Bench.type, .ptr)
        #expect(Set(answers.map(\.data)) == [.ptr(Bench.tony), .ptr(Bench.name("eve._witap._tcp.local"))])
        let wait = bench.sent[0].at - start
        #expect(wait >= .milliseconds(400) && wait <= .milliseconds(500), "\(wait)")
    }

    @Test("§7.4: what another host says meanwhile is not said again")
    func duplicate() throws {
        var bench = try Bench.established()
        bench.ask([Self.list])
        bench.hear(Other.response(Self.pointer))
        bench.pass(.seconds(1))
        #expect(bench.sent.isEmpty)
        bench.ask([Self.list])
        var old = Self.pointer
        old.ttl = 4499
        bench.hear(Other.response(old))
        bench.pass(.seconds(1))
        #expect(bench.sent.count == 1, "with less of its life")
    }

    @Test("§7.4: nor what comes in a frame to this machine alone, which nobody else has heard")
    func unheardDuplicate() throws {
        var bench = try Bench.established()
        bench.ask([Self.list])
        bench.hear(Other.response(Self.pointer), to: .groupInOneFrame)
        bench.pass(.seconds(1))
        #expect(bench.said(Bench.type, .ptr).count == 1)
        // It is believed as a conflict: an access point sends all so.
        bench.hear(Other.response(Other.srv()), to: .groupInOneFrame)
        bench.pass(.milliseconds(300))
        #expect(!bench.probes.isEmpty)
    }

    @Test("§17: a question that a thousand services answer: packets below the MTU, each service once, with SRV and TXT")
    func many() throws {
        let names = (1...1000).map { "service \($0)" }
        var bench = try Bench.established(names)
        bench.ask([Self.list])
        bench.pass(.seconds(2))
        #expect(bench.sent.allSatisfy { $0.size <= 1452 })
        #expect(bench.said(Bench.type, .ptr).count == 1000)
        #expect(bench.said.count { $0.type == .srv } == 1000 && bench.said.count { $0.type == .txt } == 1000)
        #expect(bench.sent.count < 110, "\(bench.sent.count)")
        #expect(bench.sent.last.map { $0.at - bench.sent[0].at } ?? .zero < .milliseconds(200))
    }

    @Test(
        "a list of a thousand that one asks for alone: a packet to it, the rest to all; to a resolver no more is looked up than a packet holds"
    )
    func longAlone() throws {
        var bench = try Bench.established((1...1000).map { "service \($0)" })
        bench.hear(Message(questions: [Question(Bench.type, .ptr, wantsUnicastResponse: true)]))
        bench.pass(.seconds(2))
        let replies = bench.sent.filter { $0.host != nil }
        #expect(replies.count == 1 && replies[0].size <= 1452)
        #expect(bench.said(Bench.type, .ptr).count == 1000)
        bench.forget()
        bench.hear(Message(id: 1, questions: [Self.list]), port: 4000)
        bench.pass(.seconds(2))
        #expect(
            bench.sent.count == 1 && bench.sent.allSatisfy { $0.message.flags.contains(.truncated) && $0.size <= 512 })
        let answers = bench.responder.owned.answers(to: Self.list, over: .ipv4, atMost: 64)
        #expect(answers.count == 64 && Set(answers).count == 64)
    }

    @Test("a source gets 16 KiB a second at most by unicast, whatever it asks")
    func budget() throws {
        var bench = try Bench.established((1...40).map { "service \($0)" })
        for id in 0..<1000 { bench.hear(Message(id: UInt16(id), questions: [Self.list]), port: 4000) }
        #expect(bench.sent.reduce(0) { $0 + $1.size } <= 16_384 && !bench.sent.isEmpty)
        bench.forget()
        bench.pass(.seconds(1))
        bench.hear(Message(id: 1, questions: [Self.list]), port: 4000)
        #expect(bench.sent.count == 1)
    }

    @Test("each family by itself: asked over IPv6, answered over IPv6")
    func families() throws {
        var bench = try Bench.established(families: [.ipv4, .ipv6])
        bench.hear(Message(questions: [Question(Bench.host, .a)]), over: .ipv6)
        #expect(bench.sent.map(\.family) == [.ipv6])
    }

    @Test("what was asked over a family that goes is not answered when it is back, with what has its place then")
    func familyAway() throws {
        var bench = try Bench.established(families: [.ipv4, .ipv6])
        let types = Bench.name("_services._dns-sd._udp.local")
        let place = try #require(bench.responder.owned.places(of: types).first)
        bench.hear(Message(questions: [Question(types, .ptr)]), over: .ipv6)
        bench.responder.use([.ipv4], at: bench.now)
        bench.responder.withdraw(.service(1), at: bench.now)
        bench.pass(.seconds(5))
        bench.responder.use([.ipv4, .ipv6], at: bench.now)
        bench.forget()
        try bench.publish(isProven: true)
        bench.pass(.milliseconds(1))
        let negative = try #require(bench.responder.owned.places(of: Bench.tony).first { $0 == place })
        #expect(bench.responder.owned[negative]?.kind == .negative)
        #expect(bench.said(Bench.tony, .srv).count == 2 && bench.said(Bench.tony, .nsec).isEmpty)
    }

    @Test(
        "floods of random questions, probes and responses: bounded, at rest afterwards, and the name is back",
        arguments: 1...4)
    func flood(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bench = try Bench.established(["tony", "anna"])
        let names = [Bench.tony, Bench.host, Bench.type, Bench.name("anna._witap._tcp.local"), .root]
        let types: [RecordType] = [.a, .srv, .txt, .ptr, .any, .nsec, RecordType(rawValue: 999)]
        for _ in 0..<rounds(2000) {
            let questions = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                Question(
                    names.randomElement(using: &random) ?? .root, types.randomElement(using: &random) ?? .a,
                    wantsUnicastResponse: Bool.random(using: &random))
            }
            let records = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                ResourceRecord(
                    names.randomElement(using: &random) ?? .root, types.randomElement(using: &random) ?? .a,
                    .other([UInt8.random(in: 0...255, using: &random)]), ttl: UInt32.random(in: 0...200, using: &random)
                )
            }
            var message = Message(
                flags: Bool.random(using: &random) ? [.response] : Bool.random(using: &random) ? .truncated : [],
                questions: questions)
            if Bool.random(using: &random) { message.answers = records } else { message.authorities = records }
            bench.hear(
                message, from: .v4(IPv4Address(bits: UInt32.random(in: 1...500, using: &random))),
                port: Bool.random(using: &random) ? 5353 : 9999, to: Bool.random(using: &random) ? .group : .machine,
                isOnLink: Bool.random(using: &random))
            bench.pass(.milliseconds(Int.random(in: 0...20, using: &random)))
        }
        // Who gave up a name claims the next one.
        bench.pass(.seconds(30))
        bench.forget()
        bench.pass(.seconds(60))
        #expect(bench.sent.isEmpty)
    }

    @Test("a list of large records that is asked for each second does not pile up: answers wait for the last one")
    func bounded() throws {
        let txt = TXTRecord(strings: (0..<4).map { [UInt8](repeating: $0 + 65, count: 250) })
        var bench = Bench()
        bench.claimHost()
        for number in 1...800 { try bench.publish("s\(number)", number: UInt64(number), txt: txt) }
        bench.pass(.seconds(20))
        bench.forget()
        for _ in 0..<12 {
            bench.ask([Question(Bench.type, .ptr)])
            bench.pass(.seconds(1))
        }
        bench.forget()
        // What waits is less than two answers.
        bench.pass(.seconds(10))
        #expect(bench.sent.count < 1800, "\(bench.sent.count)")
    }
}
