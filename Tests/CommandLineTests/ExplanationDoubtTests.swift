import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@testable import DiscoverdCommands

@Suite("What evidence does not mean")
struct ExplanationDoubtTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")

    private func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private func address(_ number: UInt32) -> IPAddress { .v4(IPv4Address(bits: 0x0A4D_0000 + number)) }

    private func tony() throws -> NameInquiry {
        NameInquiry(.service(try ServiceInstance(fullName: "tony._http._tcp.local")))
    }

    /// What a host says of a service, and of its own address.
    private func records(port: UInt16 = 9000, address: UInt32 = 1) throws -> [ResourceRecord] {
        let tony = try name("tony._http._tcp.local")
        return [
            ResourceRecord(
                tony, .srv, .srv(priority: 0, weight: 0, port: port, target: try name("h1.local")), ttl: 120),
            ResourceRecord(tony, .txt, .txt([0]), ttl: 120),
            ResourceRecord(try name("_http._tcp.local"), .ptr, .ptr(tony), ttl: 120),
            ResourceRecord(try name("h1.local"), .a, .a(0x0A4D_0000 + address), ttl: 120),
        ]
    }

    private func response(_ records: [ResourceRecord], to packet: OutgoingQuestion? = nil) throws -> Message {
        let asked = try packet.map { try Message(reading: $0.bytes) }
        return Message(
            id: asked?.id ?? 0, flags: [.response, .authoritative], questions: asked?.questions ?? [], answers: records)
    }

    private func evidence(_ inquiry: NameInquiry) -> Evidence {
        var evidence = Evidence(inquiry)
        evidence.links = [(interface: eth0, families: [.ipv4])]
        return evidence
    }

    private func codes(_ inquiry: NameInquiry) -> [String] { codes(of: evidence(inquiry)) }

    private func codes(of evidence: Evidence) -> [String] { Explanation(evidence).diagnoses.map(\.code.rawValue) }

    @Test(
        "silence: not that it is not there; what this machine's own responder, firewall and other family have to do with it"
    )
    func silence() throws {
        var heard = try tony()
        heard.received(try response([]), Arrival(from: address(1), on: eth0, .group), at: .zero)
        var evidence = evidence(heard)
        let message = try #require(Explanation(evidence).diagnoses.first?.message)
        #expect(
            message.contains("not offered") && message.contains("another VLAN") && message.contains("doctor' there"))
        #expect(!message.contains("it is not there"))
        evidence.silentResponder = "avahi-daemon (pid 7)"
        #expect(codes(of: evidence) == ["no-answer", "no-responder"])
        evidence.silentResponder = nil
        evidence.isListedByDaemon = true
        #expect(codes(of: evidence) == ["no-answer"] && Explanation(evidence).notes.count == 1)
        evidence.otherFamily = (.ipv6, [address(1)])
        #expect(codes(of: evidence) == ["other-family"])
        #expect(Explanation(evidence).diagnoses[0].message.hasSuffix("leave out -4"))
        var silent = self.evidence(try tony())
        #expect(codes(of: silent) == ["silent-link"])
        silent.isEchoed = false
        #expect(codes(of: silent) == ["multicast-not-heard"])
        heard.received(try response(try records()), Arrival(from: address(1), on: eth0, .group), at: .zero)
        var healthy = self.evidence(heard)
        healthy.keyDoubt = "another key"
        #expect(codes(of: healthy).isEmpty && Explanation(healthy).notes == ["another key"])
    }

    @Test("a hundred services of one host, said in two ways: none lacks its record")
    func crowd() throws {
        var inquiry = NameInquiry(.type(try ServiceType("_http._tcp")))
        let first = try #require(inquiry.questions(at: .zero).first)
        let names = try (0..<100).map { try name("s\($0)._http._tcp.local") }
        let host = try name("h1.local")
        let list = try names.map { ResourceRecord(try name("_http._tcp.local"), .ptr, .ptr($0), ttl: 120) }
        let answer = Arrival(from: address(1), on: eth0, .answer)
        let group = Arrival(from: address(1), on: eth0, .group)
        inquiry.received(try response(list), group, at: .milliseconds(1))
        inquiry.received(try response(list, to: first), answer, at: .milliseconds(1))
        for name in names {
            let record = ResourceRecord(name, .srv, .srv(priority: 0, weight: 0, port: 1, target: host), ttl: 120)
            inquiry.received(try response([record]), group, at: .milliseconds(2))
        }
        #expect(codes(inquiry).isEmpty)
    }

    @Test("a thousand forged senders from elsewhere: two hosts, and nothing that the real one's records deny")
    func forged() throws {
        var inquiry = try tony()
        for number in UInt32(1)...1000 {
            let forged = try records(port: UInt16(number))
            let arrival = Arrival(
                from: .v4(IPv4Address(bits: 0xC000_0200 + number)), on: eth0, .group, hops: 3, place: .elsewhere)
            inquiry.received(try response([forged[0]]), arrival, at: .milliseconds(1))
        }
        inquiry.received(try response(try records()), Arrival(from: address(1), on: eth0, .group), at: .milliseconds(2))
        #expect(codes(inquiry) == ["two-hosts", "incomplete"])
        #expect(inquiry.heard.count < 300, "what is kept is bounded")
    }

    @Test("one host with two interfaces on the link looks like two that share a name: no fault")
    func twoInterfaces() throws {
        var inquiry = try tony()
        for number in [UInt32(1), 11] {
            inquiry.received(
                try response(try records(address: number)), Arrival(from: address(number), on: eth0, .group),
                at: .milliseconds(1))
        }
        #expect(codes(inquiry).isEmpty)
        // One of them says another's address: no host of two interfaces does.
        let other = try records(address: 7)[3]
        inquiry.received(try response([other]), Arrival(from: address(1), on: eth0, .group), at: .milliseconds(2))
        inquiry.received(try response([other]), Arrival(from: address(11), on: eth0, .group), at: .milliseconds(2))
        #expect(codes(inquiry) == ["two-hosts"])
    }

    /// Asks and answers for `limit` milliseconds, in steps of 10.
    /// - Parameters:
    ///   - group: whether the group is heard at a time, at which it was asked alone so often.
    ///   - unicast: whether what is asked of all is answered to the port that asks, too.
    ///   - answers: whether a question of the sample is answered.
    private func asked(
        until limit: Int, group: (Int, Int) -> Bool = { time, _ in time == 0 }, unicast: Bool = true,
        _ answers: (Int) -> Bool
    ) throws -> NameInquiry {
        var inquiry = try tony()
        var rounds = 0
        for time in stride(from: 0, through: limit, by: 10) {
            let now = Duration.milliseconds(time)
            if inquiry.isOver(at: now) { break }
            let questions = inquiry.questions(at: now)
            if questions.map(\.path) == [.shared] { rounds += 1 }
            for question in questions {
                let isOfSample = question.path == .link(eth0, .ipv4)
                guard isOfSample ? answers(time) : unicast && question.path == .group else { continue }
                inquiry.received(
                    try response(try records(), to: question), Arrival(from: address(1), on: eth0, .answer), at: now)
            }
            if group(time, rounds) {
                inquiry.received(try response(try records()), Arrival(from: address(1), on: eth0, .group), at: now)
            }
        }
        return inquiry
    }

    @Test("a host that limits its answers is none whose packets are lost", arguments: [100, 170, 300, 500, 1000, 5000])
    func limited(_ interval: Int) throws {
        for burst in 0..<6 {
            var (tokens, refilled) = (burst, 0)
            let inquiry = try asked(until: 3000) { time in
                let more = (time - refilled) / interval
                (tokens, refilled) = (min(max(burst, 1), tokens + more), refilled + more * interval)
                defer { tokens = max(0, tokens - 1) }
                return tokens > 0
            }
            #expect(codes(inquiry).isEmpty, "after \(burst): \(inquiry.sample?.answered ?? -1)")
        }
    }

    @Test("packets that are lost now and then are lost, whatever the pace", arguments: [2, 3])
    func lossy(_ every: Int) throws {
        var count = 0
        let inquiry = try asked(until: 3000) { _ in
            count += 1
            return count % every == 1
        }
        #expect(codes(inquiry) == ["loss"])
    }

    @Test(
        "lost packets are seen where the first answers are lost, too; who never answers to a port of its own is no fault"
    )
    func firstAreLost() throws {
        var count = 0
        let some = try asked(until: 3000, unicast: false) { _ in
            count += 1
            return count % 2 == 0
        }
        #expect(codes(some) == ["loss"])
        let none = try asked(until: 1500, unicast: false) { _ in false }
        #expect(none.isOver(at: .milliseconds(1500)) && codes(none).isEmpty)
        #expect(Explanation(evidence(none)).notes.count == 1)
    }

    @Test("time that is over before the host and the group had theirs: no loss, nothing that is not heard")
    func short() throws {
        for limit in [300, 600, 1200, 2300, 2700] {
            var evidence = evidence(try asked(until: limit, group: { _, _ in false }) { _ in false })
            evidence.isCut = true
            #expect(Explanation(evidence).diagnoses.map(\.code) == [.incomplete], "after \(limit) ms")
        }
        #expect(codes(try asked(until: 3000, group: { _, _ in false }) { _ in true }) == ["multicast-not-heard"])
        // The third question's answer takes its time.
        var third: Int?
        func isHeard(_ time: Int, _ rounds: Int) -> Bool {
            if rounds == 3, third == nil { third = time }
            return third.map { time == $0 + 150 } ?? false
        }
        let late = try asked(until: 3000, group: isHeard) { _ in true }
        #expect(codes(late).isEmpty)
    }
}
