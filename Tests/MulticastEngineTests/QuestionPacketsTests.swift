import DNSMessage
import MulticastEngine
import Testing

@Suite("QuestionPackets")
struct QuestionPacketsTests {
    private let type = DomainName(text: "_http._tcp.local")

    private func name(_ label: [UInt8]) throws -> DomainName {
        try DomainName(labels: [label] + type.labels.map(Array.init))
    }

    private func listed(_ data: RecordData) -> ResourceRecord { ResourceRecord(type, .ptr, data, ttl: 4500) }

    @Test("what avahi-daemon cannot read is no known answer: it would throw the question away with it")
    func knownAnswers() throws {
        let good = try [Array("web".utf8), Array("Küche 🎉".utf8), Array("a.b\n\u{7F}".utf8)].map {
            listed(.ptr(try name($0)))
        }
        let bad = try [[0x62, 0xFF], [0x61, 0, 0x62], [0xED, 0xA0, 0x80]].map { listed(.ptr(try name($0))) }
        let known = bad + good + [listed(.other([1, 2]))]
        let packets = QuestionPackets([Question(type, .ptr)]) { known.forEach($1) }.packets
        let messages = try packets.map { try Message(reading: $0) }
        #expect(messages.map(\.questions) == [[Question(type, .ptr)]])
        #expect(messages.map { $0.answers.map(\.data) } == [good.map(\.data)])
    }

    @Test("a question for a name that avahi-daemon cannot read is asked in a packet of its own")
    func questions() throws {
        let odd = try [[0x62, 0xFF], [0x61, 0, 0x62]].map { Question(try name($0), .srv) }
        let plain = [Question(type, .ptr), Question(try name(Array("web".utf8)), .srv)]
        let packets = QuestionPackets([odd[0], plain[0], odd[1], plain[1]]) { _, _ in }.packets
        #expect(try packets.map { try Message(reading: $0).questions } == [plain, odd])
    }
}
