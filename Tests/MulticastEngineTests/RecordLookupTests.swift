import DNSMessage
import DNSSD
import MulticastEngine
import Testing

struct RecordLookupTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let wlan0 = NetworkInterface(index: 3, name: "wlan0")

    private func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private func a(_ host: String, _ number: UInt32 = 1, ttl: UInt32 = 120) throws -> ResourceRecord {
        ResourceRecord(try name(host), .a, .a(0x0A4D_0000 + number), ttl: ttl)
    }

    private func response(_ records: ResourceRecord..., to packet: OutgoingQuestion? = nil) throws -> Message {
        let asked = try packet.map { try Message(reading: $0.bytes) }
        return Message(
            id: asked?.id ?? 0, flags: [.response, .authoritative], questions: asked?.questions ?? [], answers: records)
    }

    private func arrival(_ way: Arrival.Way, _ interface: NetworkInterface, place: Arrival.Place = .link) -> Arrival {
        Arrival(from: .v4(IPv4Address(bits: 0x0A4D_0001)), on: interface, way, place: place)
    }

    private func ms(_ number: Int) -> Duration { .milliseconds(number) }

    @Test("a question is asked from a port of its own, then from both, until it is answered")
    func packets() throws {
        var lookup = RecordLookup([Question(try name("h1.local"), .a)])
        #expect(lookup.questions(at: .zero).map(\.path) == [.group])
        #expect(lookup.questions(at: ms(100)).isEmpty && lookup.deadline(after: ms(100)) == ms(300))
        let both = lookup.questions(at: ms(300))
        #expect(both.map(\.path) == [.group, .shared])
        lookup.received(try response(try a("h1.local"), to: both[0]), arrival(.answer, eth0), at: ms(310))
        #expect(!lookup.isOver(at: ms(311)) && lookup.isOver(at: ms(510)))
        #expect(lookup.questions(at: ms(1000)).isEmpty)
        #expect(lookup.found.map(\.record.data) == [.a(0x0A4D_0001)])
    }

    @Test(
        "who wants the TTL asks the group at once, and waits for it to speak: an answer to a port of its own shortens it"
    )
    func timeToLive() throws {
        var lookup = RecordLookup([Question(try name("h1.local"), .a)], wantsTTL: true)
        let packets = lookup.questions(at: .zero)
        #expect(packets.map(\.path) == [.group, .shared])
        lookup.received(try response(try a("h1.local", ttl: 10), to: packets[0]), arrival(.answer, eth0), at: ms(1))
        var silent = lookup
        #expect(lookup.found.map(\.ttl) == [nil] && !lookup.isOver(at: ms(600)))
        lookup.received(try response(try a("h1.local")), arrival(.group, eth0), at: ms(90))
        #expect(lookup.found.map(\.ttl) == [120] && lookup.isOver(at: ms(300)))
        // Who has said it a moment ago is asked again when it may repeat it.
        _ = silent.questions(at: ms(300))
        #expect(silent.questions(at: ms(1000)).contains { $0.path == .shared })
        #expect(!silent.isOver(at: ms(1199)) && silent.isOver(at: ms(1200)) && silent.found.map(\.ttl) == [nil])
        // Who does not shorten it tells the truth.
        silent.received(try response(try a("h1.local", 2), to: packets[0]), arrival(.answer, eth0), at: ms(2))
        #expect(silent.found.map(\.ttl) == [nil, 120])
        // Who does not care is not held up.
        var other = RecordLookup([Question(try name("h1.local"), .a)])
        let packet = other.questions(at: .zero)[0]
        other.received(try response(try a("h1.local", ttl: 10), to: packet), arrival(.answer, eth0), at: ms(1))
        #expect(other.isOver(at: ms(201)))
    }

    @Test("unicast counts only with the number and the question; multicast with the name")
    func believed() throws {
        var lookup = RecordLookup([Question(try name("h1.local"), .a)])
        let packet = lookup.questions(at: .zero)[0]
        var forged = try response(try a("h1.local", 66), to: packet)
        forged.id &+= 1
        lookup.received(forged, arrival(.answer, eth0), at: ms(1))
        // Another network's host (RFC 6762 §11).
        lookup.received(
            try response(try a("h1.local", 66), to: packet), arrival(.answer, eth0, place: .elsewhere), at: ms(1))
        lookup.received(try response(try a("h1.local", 66)), arrival(.answer, eth0), at: ms(1))
        var query = try response(try a("h1.local", 66), to: packet)
        query.flags = []
        lookup.received(query, arrival(.answer, eth0), at: ms(1))
        lookup.received(try response(try a("other.local", 66), to: packet), arrival(.answer, eth0), at: ms(1))
        let text = ResourceRecord(try name("h1.local"), .txt, .txt([0]), ttl: 120)
        lookup.received(try response(text, to: packet), arrival(.answer, eth0), at: ms(1))
        #expect(lookup.found.isEmpty && !lookup.isOver(at: ms(4000)))
        lookup.received(try response(try a("H1.LOCAL")), arrival(.group, eth0), at: ms(2))
        lookup.received(try response(try a("h1.local"), to: packet), arrival(.answer, eth0), at: ms(3))
        lookup.received(try response(try a("h1.local"), to: packet), arrival(.answer, wlan0), at: ms(3))
        #expect(lookup.found.map(\.interface.name) == ["eth0", "wlan0"])
    }

    @Test("a goodbye takes the record away")
    func goodbye() throws {
        var lookup = RecordLookup([Question(try name("h1.local"), .a)])
        lookup.received(try response(try a("h1.local"), try a("h1.local", 2)), arrival(.group, eth0), at: ms(1))
        lookup.received(try response(try a("h1.local", ttl: 0)), arrival(.group, eth0), at: ms(2))
        #expect(lookup.found.map(\.record.data) == [.a(0x0A4D_0002)])
    }

    @Test("names of several owners are given time; a type that the owner does not have is not waited for")
    func ends() throws {
        let type = try name("_http._tcp.local")
        var shared = RecordLookup([Question(type, .ptr)])
        let pointer = ResourceRecord(type, .ptr, .ptr(try name("a._http._tcp.local")), ttl: 120)
        shared.received(try response(pointer), arrival(.group, eth0), at: ms(5))
        #expect(!shared.isOver(at: ms(1199)) && shared.isOver(at: ms(1200)))

        var host = RecordLookup([Question(try name("h1.local"), .a), Question(try name("h1.local"), .aaaa)])
        host.received(try response(try a("h1.local")), arrival(.group, eth0), at: ms(5))
        #expect(!host.isOver(at: ms(300)) && host.isOver(at: ms(505)))

        var denied = RecordLookup([Question(try name("h1.local"), .srv)])
        let nsec = RecordData.nsec(next: try name("h1.local"), types: [.a])
        let types = ResourceRecord(try name("h1.local"), .nsec, nsec, ttl: 120)
        denied.received(try response(types), arrival(.group, eth0), at: ms(5))
        #expect(denied.isOver(at: ms(505)) && denied.found.isEmpty)
    }

    @Test("a flood of records is bounded")
    func bounded() throws {
        var lookup = RecordLookup([Question(try name("h1.local"), .a)])
        for number in 0..<5000 {
            lookup.received(try response(try a("h1.local", UInt32(number))), arrival(.group, eth0), at: ms(1))
        }
        #expect(lookup.found.count == 1024)
    }

    @Test(
        "data of further types as in a zone file; what breaks its form in that of RFC 3597",
        arguments: [
            ("MX", [0, 10, 1, 0x61, 0], "10 a."), ("MX", [0, 10], ##"\# 2 000A"##),
            ("MX", [0, 10, 0, 0], ##"\# 4 000A0000"##),
            ("DS", [0xEC, 0x45, 5, 1, 0x2B, 0xB1], "60485 5 1 2BB1"), ("SSHFP", [2, 1, 0x12], "2 1 12"),
            ("SSHFP", [2, 1], ##"\# 2 0201"##), ("TLSA", [3, 1, 1, 0xD2], "3 1 1 D2"),
            ("DNSKEY", [1, 0, 3, 8, 3, 1, 0, 1], "256 3 8 AwEAAQ=="),
            ("CAA", [0, 5] + Array("issueca.x".utf8), #"0 issue "ca.x""#),
            ("CAA", [0, 1, 0x1B, 0x61], ##"\# 4 00011B61"##),
            ("NAPTR", [0, 1, 0, 2, 1, 0x55, 0, 0, 0], #"1 2 "U" "" "" ."#), ("SPF", [2, 0x22, 0x1B], #""\"\027""#),
            ("URI", [0, 1, 0, 2, 0x61], #"1 2 "a""#), ("DNAME", [0], "."), ("RP", [0, 1, 0x61, 0], ". a."),
            ("HTTPS", [0, 1, 0], "1 ."), ("HTTPS", [0, 0, 1, 0x61, 0], "0 a."),
            (
                "SVCB", [0, 16, 0, 0, 1, 0, 6, 2, 0x68, 0x32, 2, 0x2C, 0x22, 0, 2, 0, 0, 0, 3, 0, 2, 1, 0xBB],
                #"16 . alpn="h2,\\,\"" no-default-alpn port=443"#
            ),
            (
                "HTTPS", [0, 1, 0, 0, 0, 0, 2, 0, 4, 0, 4, 0, 4, 10, 0, 0, 1],
                "1 . mandatory=ipv4hint ipv4hint=10.0.0.1"
            ),
            (
                "HTTPS", [0, 1, 0, 0, 6, 0, 16, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1],
                "1 . ipv6hint=fe80::1"
            ),
            ("HTTPS", [0, 1, 0, 0, 5, 0, 1, 0xFF, 2, 0x9B, 0, 1, 0x1B], #"1 . ech=/w== key667="\027""#),
            // Keys that go down, a length beyond the end, an address of three bytes, a port of one, a value of what has none.
            ("HTTPS", [0, 1, 0, 0, 3, 0, 2, 0, 1, 0, 1, 0, 2, 1, 0x61], ##"\# 15 000100000300020001000100020161"##),
            ("HTTPS", [0, 1, 0, 0, 3, 0, 3, 0, 1], ##"\# 9 000100000300030001"##),
            ("HTTPS", [0, 1, 0, 0, 4, 0, 3, 1, 2, 3], ##"\# 10 00010000040003010203"##),
            ("HTTPS", [0, 1, 0, 0, 3, 0, 1, 1], ##"\# 8 0001000003000101"##),
            ("HTTPS", [0, 1, 0, 0, 2, 0, 1, 1], ##"\# 8 0001000002000101"##), ("TYPE65280", [1], ##"\# 1 01"##),
        ] as [(String, [UInt8], String)])
    func dataText(_ type: String, _ data: [UInt8], _ text: String) throws {
        let record = ResourceRecord(try name("a.local"), try #require(RecordType(text: type)), .other(data), ttl: 1)
        #expect(record.dataText == text)
    }

    @Test("data as in a zone file")
    func text() throws {
        let target = try name(#"Front\.Door.local"#)
        #expect(RecordData.srv(priority: 0, weight: 5, port: 80, target: target).text == #"0 5 80 Front\.Door.local."#)
        let strings = "\"a\\\"\\\\\\027\" \"\""
        #expect(RecordData.txt([4, 0x61, 0x22, 0x5C, 0x1B, 0]).text == strings)
        #expect(RecordData.other([0x0A, 0xFF]).text == ##"\# 2 0AFF"## && RecordData.other([]).text == ##"\# 0"##)
        #expect(RecordData.aaaa(high: 0xFE80 << 48, low: 1).text == "fe80::1")
        #expect(
            RecordData.nsec(next: target, types: [.srv, .a, RecordType(rawValue: 65)]).text
                == #"Front\.Door.local. A SRV HTTPS"#)
        let address = try #require(IPAddress("fe80::1"))
        #expect(DomainName(reverse: address)?.description.hasPrefix("1.0.0.0.") == true)
        #expect(DomainName(reverse: try #require(IPAddress("10.77.0.1")))?.description == "1.0.77.10.in-addr.arpa.")
    }
}
