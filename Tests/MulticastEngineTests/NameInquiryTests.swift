import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("An inquiry about a name")
struct NameInquiryTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let h1 = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))

    private func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private func ms(_ number: Int) -> Duration { .milliseconds(number) }

    private func inquiry() throws -> NameInquiry {
        NameInquiry(.service(try ServiceInstance(fullName: "tony._http._tcp.local")))
    }

    private func records(port: UInt16 = 9000, ttl: UInt32 = 120) throws -> [ResourceRecord] {
        let tony = try name("tony._http._tcp.local")
        return [
            ResourceRecord(
                tony, .srv, .srv(priority: 0, weight: 0, port: port, target: try name("h1.local")), ttl: ttl),
            ResourceRecord(tony, .txt, .txt([0]), ttl: ttl),
            ResourceRecord(try name("_http._tcp.local"), .ptr, .ptr(tony), ttl: ttl),
        ]
    }

    private func message(_ records: [ResourceRecord], to packet: OutgoingQuestion? = nil) throws -> Message {
        let asked = try packet.map { try Message(reading: $0.bytes) }
        return Message(
            id: asked?.id ?? 0, flags: [.response, .authoritative], questions: asked?.questions ?? [], answers: records)
    }

    private func address() throws -> [ResourceRecord] {
        [ResourceRecord(try name("h1.local"), .a, .a(0x0A4D_0001), ttl: 120)]
    }

    @Test("SRV, TXT and PTR are asked for from both ports, again until they are answered; then the host")
    func questions() throws {
        var inquiry = try inquiry()
        let first = inquiry.questions(at: .zero)
        #expect(first.map(\.path) == [.group, .shared, .group, .shared, .group, .shared])
        #expect(inquiry.questions(at: ms(200)).isEmpty && inquiry.questions(at: ms(300)).count == 6)
        inquiry.received(try message(try records()), Arrival(from: h1, on: eth0, .group), at: ms(310))
        let host = try inquiry.questions(at: ms(310)).filter { $0.path != .link(eth0, .ipv4) }.map {
            try Message(reading: $0.bytes).questions
        }
        let asked = [Question(try name("h1.local"), .a), Question(try name("h1.local"), .aaaa)]
        #expect(Set(host.joined()) == Set(asked) && host.count == 4)
        // Its other address may be missing: waited for, and then not asked for again.
        inquiry.received(try message(try address()), Arrival(from: h1, on: eth0, .group), at: ms(320))
        #expect(!inquiry.isOver(at: ms(500)))
        _ = inquiry.questions(at: ms(950))
        // Asked once more alone.
        #expect(inquiry.sample?.host == h1 && !inquiry.isOver(at: ms(950)))
        _ = inquiry.questions(at: ms(1950))
        #expect(inquiry.isOver(at: ms(1950)))
    }

    @Test("a host that answers by unicast without id and question is believed, and told apart; its link is not deaf")
    func lone() throws {
        for answersGroup in [false, true] {
            var inquiry = try inquiry()
            _ = inquiry.questions(at: .zero)
            inquiry.received(try message(try records()), Arrival(from: h1, on: eth0, .answer), at: ms(1))
            if answersGroup {
                inquiry.received(try message(try records()), Arrival(from: h1, on: eth0, .group), at: ms(2))
            }
            for time in stride(from: 0, through: 5000, by: 50) { _ = inquiry.questions(at: ms(time)) }
            #expect(!inquiry.answers.isEmpty && inquiry.loners == (answersGroup ? [] : [h1]))
            #expect(inquiry.unheardLinks.isEmpty)
        }
        // Not about the name; from another network.
        var other = try inquiry()
        other.received(try message(try address()), Arrival(from: h1, on: eth0, .answer), at: ms(1))
        other.received(
            try message(try records()), Arrival(from: h1, on: eth0, .answer, place: .elsewhere), at: ms(1))
        #expect(other.loners.isEmpty && other.answers.isEmpty)
    }

    @Test("nothing is answered: given up after the last question")
    func silence() throws {
        var inquiry = try inquiry()
        for time in stride(from: 0, through: 2500, by: 100) {
            _ = inquiry.questions(at: ms(time))
            #expect(!inquiry.isOver(at: ms(time)))
        }
        #expect(inquiry.isOver(at: ms(2600)) && inquiry.answers.isEmpty && !inquiry.isWithdrawn)
    }

    @Test("a unicast answer counts with an id that was asked, and begins a sample; the group is waited for")
    func unicast() throws {
        var inquiry = try inquiry()
        let first = try #require(inquiry.questions(at: .zero).first)
        let stranger = Message(id: 1, flags: .response, answers: try records())
        inquiry.received(stranger, Arrival(from: h1, on: eth0, .answer), at: ms(1))
        #expect(inquiry.heard.isEmpty)
        let all = try records() + address()
        inquiry.received(try message(all, to: first), Arrival(from: h1, on: eth0, .answer), at: ms(2))
        #expect(inquiry.answers.count == 1 && inquiry.unheardLinks.isEmpty)
        var answered = 0
        for time in stride(from: 3, through: 900, by: 10) {
            for question in inquiry.questions(at: ms(time)) where question.path == .link(eth0, .ipv4) {
                answered += 1
                // One is lost.
                if answered == 3 { continue }
                inquiry.received(
                    try message(all, to: question), Arrival(from: h1, on: eth0, .answer), at: ms(time))
            }
        }
        #expect(answered == 8 && inquiry.sample?.answered == 7 && inquiry.sample?.verdict == .good)
        #expect(!inquiry.isOver(at: ms(1100)))
        let again = inquiry.questions(at: ms(1150))
        #expect(again.map(\.path).filter { $0 == .shared }.count == 1)
        inquiry.received(Message(), Arrival(from: h1, on: eth0, .group), at: ms(1160))
        #expect(inquiry.isOver(at: ms(1200)) && inquiry.unheardLinks.isEmpty)
    }

    @Test("goodbyes are no answers, and alone they say that it is being withdrawn")
    func goodbyes() throws {
        var inquiry = try inquiry()
        inquiry.received(try message(try records(ttl: 0)), Arrival(from: h1, on: eth0, .group), at: ms(1))
        #expect(inquiry.answers.isEmpty && inquiry.isWithdrawn)
        inquiry.received(try message(try records()), Arrival(from: h1, on: eth0, .group), at: ms(2))
        #expect(inquiry.answers.count == 1 && !inquiry.isWithdrawn)
    }

    @Test("one sender keeps out no other, and what is kept is bounded")
    func bounds() throws {
        var inquiry = try inquiry()
        for sender in UInt32(1)...100 {
            let arrival = Arrival(from: .v4(IPv4Address(bits: sender)), on: eth0, .group)
            for port in UInt16(1)...100 {
                inquiry.received(try message([try records(port: port)[0]]), arrival, at: ms(1))
            }
            #expect(inquiry.heard.count == min(Int(sender) * 64, 192))
        }
        #expect(inquiry.hosts.count == 100 && inquiry.isPartial)
        // What else is said of it has room of its own.
        let rest = Array(try records().dropFirst())
        inquiry.received(try message(rest), Arrival(from: h1, on: eth0, .group), at: ms(2))
        #expect(inquiry.heard.count == 194 && !inquiry.isPartial(inquiry.subject.name, [.txt]))
    }

    @Test("what another interface of this machine says makes no other host, and no group that is heard")
    func ours() throws {
        var inquiry = try inquiry()
        let arrival = Arrival(from: h1, on: eth0, .group, place: .here)
        inquiry.received(try message(try records()), arrival, at: ms(1))
        #expect(inquiry.hosts.isEmpty && inquiry.groupLinks.isEmpty && !inquiry.hasNearAnswer)
        #expect(inquiry.answers.count == 1)
        var census = NameCensus()
        census.received(try message(try records()), arrival, at: ms(1))
        #expect(!census.hasOthers)
    }

    @Test("a census: the types, then their services; the usual service ends it")
    func census() throws {
        let word = try ServiceInstance(fullName: "tony._witap._tcp.local")
        var census = NameCensus(usual: word, host: try name("tony.local"))
        _ = census.questions(at: .zero)
        let list = ResourceRecord(
            try name("_services._dns-sd._udp.local"), .ptr, .ptr(try name("_http._tcp.local")), ttl: 120)
        census.received(try message([list]), Arrival(from: h1, on: eth0, .group), at: ms(1))
        let next = try census.questions(at: ms(2)).map { try Message(reading: $0.bytes).questions }
        #expect(Set(next.joined()) == [Question(try name("_http._tcp.local"), .ptr)])
        census.received(try message(try records()), Arrival(from: h1, on: eth0, .group), at: ms(3))
        let found = census.services(named: ServiceName(observed: "TONY"))
        #expect(found == [try ServiceInstance(fullName: "tony._http._tcp.local")])
        #expect(census.types.map(\.description) == ["_http._tcp"] && census.hasOthers)
        #expect(!census.isOver(at: ms(600)) && census.isOver(at: ms(700)))
        let usual = ResourceRecord(
            try name("tony._witap._tcp.local"), .srv,
            .srv(priority: 0, weight: 0, port: 1, target: try name("h1.local")), ttl: 120)
        census.received(try message([usual]), Arrival(from: h1, on: eth0, .group), at: ms(10))
        #expect(census.isOver(at: ms(10)) && census.services(named: word.name).first == word)
    }

    @Test("hosts that are asked alone: only their answers with the id count")
    func direct() throws {
        let h2 = IPAddress.v4(IPv4Address(bits: 0x0A4D_0002))
        var direct = DirectInquiry(
            .service(try ServiceInstance(fullName: "tony._http._tcp.local")), of: [h1, h2])
        let first = direct.questions(at: .zero)
        #expect(first.map(\.path) == [.host(h1), .host(h2)])
        direct.received(try message(try records()), Arrival(from: h2, on: eth0, .group), at: ms(1))
        direct.received(
            Message(id: 0, flags: .response, answers: try records()), Arrival(from: h2, on: eth0, .answer), at: ms(1))
        #expect(direct.answers.isEmpty)
        direct.received(try message(try records(), to: first[0]), Arrival(from: h1, on: eth0, .answer), at: ms(2))
        #expect(direct.answers == [h1] && direct.questions(at: ms(200)).map(\.path) == [.host(h2)])
        #expect(!direct.isOver(at: ms(499)) && direct.isOver(at: ms(500)))
    }
}
