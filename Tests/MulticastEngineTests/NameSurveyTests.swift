import DNSMessage
import DNSSD
import MulticastEngine
import Testing

struct NameSurveyTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let wlan0 = NetworkInterface(index: 3, name: "wlan0")

    private func name(_ text: String) throws -> DomainName {
        try DomainName(labels: text.split(separator: ".").map { Array($0.utf8) })
    }

    private func host(_ number: UInt32, on interface: NetworkInterface? = nil) -> Arrival {
        Arrival(from: .v4(IPv4Address(bits: 0x0A4D_0000 + number)), on: interface ?? eth0, .group)
    }

    private func tony(_ host: String, _ port: UInt16 = 9000, ttl: UInt32 = 120) throws -> ResourceRecord {
        ResourceRecord(
            try name("tony._witap._tcp.local"), .srv,
            .srv(priority: 0, weight: 0, port: port, target: try name(host)), ttl: ttl)
    }

    private func address(_ host: String, _ number: UInt32) throws -> ResourceRecord {
        ResourceRecord(try name(host), .a, .a(0x0A4D_0000 + number), ttl: 120)
    }

    private func response(_ records: ResourceRecord...) -> Message {
        Message(flags: [.response, .authoritative], answers: records)
    }

    @Test("types are asked for, then services, then hosts, each once")
    func questions() throws {
        var survey = NameSurvey()
        let types = try name("_services._dns-sd._udp.local")
        #expect(survey.asks() == [Question(types, .ptr)])
        let type = try name("_witap._tcp.local")
        let listed = ResourceRecord(types, .ptr, .ptr(type), ttl: 120)
        let first = survey.received(response(listed), from: host(1))
        let again = survey.received(response(listed), from: host(2))
        #expect(first == [Question(type, .ptr)] && again.isEmpty)
        let service = ResourceRecord(type, .ptr, .ptr(try name("tony._witap._tcp.local")), ttl: 120)
        let second = survey.received(response(service), from: host(1))
        #expect(second == [Question(try name("tony._witap._tcp.local"), .srv)])
        let third = survey.received(response(try tony("h1.local")), from: host(1))
        #expect(third == [Question(try name("h1.local"), .a), Question(try name("h1.local"), .aaaa)])
        // Not of this link, and no response.
        let far = survey.received(response(try tony("h1.example.org")), from: host(1))
        let query = survey.received(Message(answers: [service]), from: host(1))
        #expect(far.isEmpty && query.isEmpty)
    }

    @Test("two hosts that name different hosts for a service, or addresses for a host, are a dispute with both")
    func disputes() throws {
        var survey = NameSurvey()
        _ = survey.received(response(try tony("h1.local"), try address("h1.local", 1)), from: host(1))
        _ = survey.received(response(try tony("h1.local"), try address("h1.local", 1)), from: host(9))
        #expect(survey.disputes.isEmpty, "a proxy says the same")
        _ = survey.received(response(try tony("evil.local"), try address("h1.local", 3)), from: host(3))
        #expect(survey.disputes.map { $0.owner == .service } == [false, true])
        #expect(survey.disputes.allSatisfy { $0.sides.count == 3 })
        #expect(survey.count == (1, 1))
    }

    @Test("one host with several records, several links, and a goodbye are no dispute")
    func peace() throws {
        var survey = NameSurvey()
        _ = survey.received(response(try tony("h1.local"), try tony("h1.local", 9001)), from: host(1))
        _ = survey.received(response(try address("h1.local", 1), try address("h1.local", 2)), from: host(1))
        _ = survey.received(response(try address("h1.local", 1)), from: host(2))
        _ = survey.received(response(try address("h1.local", 77)), from: host(77, on: wlan0))
        _ = survey.received(response(try tony("h2.local")), from: host(2))
        _ = survey.received(response(try tony("h2.local", ttl: 0)), from: host(2))
        #expect(survey.disputes.isEmpty, "\(survey.disputes)")
    }

    @Test("a host that answers on two interfaces with each one's address may be one; one that says another's may not")
    func twoInterfaces() throws {
        var survey = NameSurvey()
        for number in [UInt32(1), 11] {
            _ = survey.received(response(try tony("h1.local"), try address("h1.local", number)), from: host(number))
        }
        #expect(survey.disputes.map { $0.owner == .hostOrTwo } == [true])
        _ = survey.received(response(try address("h1.local", 1)), from: host(5))
        #expect(survey.disputes.map { $0.owner == .hostOrTwo } == [false])
        var other = NameSurvey()
        for number in [UInt32(1), 11] {
            let port = UInt16(number)
            _ = other.received(
                response(try tony("h1.local", port), try address("h1.local", number)), from: host(number))
        }
        #expect(other.disputes.map { $0.owner == .hostOrTwo } == [false, false], "their services differ")
    }

    @Test("what this machine says over two interfaces of a link, one host says")
    func ownInterfaces() throws {
        var survey = NameSurvey(own: [host(1).sender, host(11).sender])
        for number in [UInt32(1), 11] {
            _ = survey.received(response(try address("h1.local", number)), from: host(number))
        }
        #expect(survey.disputes.isEmpty)
        _ = survey.received(response(try address("h1.local", 3)), from: host(3))
        #expect(survey.disputes.map(\.sides.count) == [2])
    }

    @Test("a flood of names and of hosts is bounded")
    func flood() throws {
        var survey = NameSurvey()
        var asked = 0
        for number in 0..<2000 {
            let record = ResourceRecord(
                try name("x\(number)._witap._tcp.local"), .srv,
                .srv(priority: 0, weight: 0, port: 1, target: try name("h\(number).local")), ttl: 120)
            asked += survey.received(response(record), from: host(1)).count
            _ = survey.received(response(try tony("h\(number).local")), from: host(UInt32(number)))
        }
        #expect(asked <= 512 && survey.count.services <= 512)
        #expect(survey.disputes.allSatisfy { $0.sides.count <= 8 })
    }
}

extension NameSurvey {
    /// Receives a message.
    /// - Returns: what it asks now.
    fileprivate mutating func received(_ message: Message, from arrival: Arrival) -> [Question] {
        received(message, arrival, at: .zero)
        return asks()
    }

    fileprivate mutating func asks() -> [Question] {
        questions(at: .zero).flatMap { (try? Message(reading: $0.bytes).questions) ?? [] }
    }
}
