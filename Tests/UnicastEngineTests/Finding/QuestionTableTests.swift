import DNSMessage
import DNSSD
import Testing

@testable import UnicastEngine

/// What one query keeps of the answers to its questions: others fill the zone.
@Suite struct QuestionTableTests {
    private func reading(_ question: Question, _ records: [RecordData]) throws -> AnswerReading {
        var message = Message(flags: [.response, .authoritative])
        message.answers = records.map { ResourceRecord(question.name, question.type, $0, ttl: 60) }
        return AnswerReading(DNSAnswer(message: message, server: try ScriptedExchange.server), to: question)
    }

    private func records(_ reading: AnswerReading) -> [RecordData] {
        if case .records(let records, _) = reading.outcome { records } else { [] }
    }

    /// A TXT record of strings of the greatest length.
    private func text(_ count: Int, _ letter: String = "k") -> [UInt8] {
        (0..<count).flatMap { number -> [UInt8] in
            let key = Array("\(letter)\(number)=".utf8)
            return [255] + key + [UInt8](repeating: 0x78, count: 255 - key.count)
        }
    }

    @Test func addressesBeyondWhatAHostHasAreLeftOut() throws {
        let question = Question(name("h1.home.example.org"), .a)
        let addresses = (0..<4000).map { RecordData.a(0x0A00_0000 + UInt32($0)) }
        #expect(try records(reading(question, addresses)) == Array(addresses.prefix(64)))
        let list = Question(name("_http._tcp.home.example.org"), .ptr)
        let names = (0..<3000).map { RecordData.ptr(name("s\($0)._http._tcp.home.example.org")) }
        #expect(try records(reading(list, names)) == names)
    }

    @Test func addressesThatCameAlongAreAsFew() throws {
        let question = Question(name("tony._http._tcp.home.example.org"), .srv)
        let host = name("h1.home.example.org")
        var message = Message(flags: [.response, .authoritative])
        message.answers = [
            ResourceRecord(question.name, .srv, .srv(priority: 0, weight: 0, port: 80, target: host), ttl: 60)
        ]
        message.additionals = (0..<2000).map { ResourceRecord(host, .a, .a(0x0A00_0000 + UInt32($0)), ttl: 60) }
        let reading = AnswerReading(DNSAnswer(message: message, server: try ScriptedExchange.server), to: question)
        guard case .records(let kept, _) = reading.additionals[Question(host, .a)] else {
            Issue.record("\(reading)")
            return
        }
        #expect(kept.count == 64)
    }

    @Test func aLongTextIsCutAndIsKnownToBe() throws {
        let question = Question(name("tony._http._tcp.home.example.org"), .txt)
        let (long, other) = (text(234), text(234, "l"))
        #expect(long.count > 59_000)
        for all in [[long], [long, other], [other, long]] {
            let reading = try reading(question, all.map { .txt($0) })
            guard case .txt(let kept)? = records(reading).first else {
                Issue.record("\(reading)")
                continue
            }
            #expect(records(reading).count == 1 && kept.count <= TXTRecord.maximumWireSize + 256)
            #expect(long.starts(with: kept))
            #expect(TXTRecord(strings: TextStrings.strings(of: kept) ?? []).isTruncated)
        }
        let short = text(2)
        #expect(try records(self.reading(question, [.txt(short)])) == [.txt(short)])
    }

    /// Asks until every question has had this answer.
    private func ask(_ questions: [Question], answering records: [RecordData], in table: inout QuestionTable) throws {
        for question in questions { table.want(question, at: .zero, jitter: 0) }
        var due = table.due(at: .zero, jitter: { 0 })
        while !due.isEmpty {
            for question in due {
                table.answered(question, try reading(question, records), at: .zero, jitter: 0)
            }
            due = table.due(at: .zero, jitter: { 0 })
        }
    }

    @Test func moreThanAQueryKeepsIsAFailureUntilThereIsRoom() throws {
        var table = QuestionTable()
        let questions = (0..<600).map { Question(name("s\($0)._http._tcp.home.example.org"), .txt) }
        let long = text(234)
        try ask(questions, answering: [.txt(long)], in: &table)
        func failed() -> [Question] { questions.filter { table[$0]?.trouble?.contains("MiB") == true } }
        let kept = questions.filter { table[$0]?.records.isEmpty == false }
        #expect(kept.count + failed().count == 600)
        #expect((400...470).contains(kept.count), "\(kept.count)")
        // What is dropped makes room.
        for question in kept { table.drop(question) }
        let one = try #require(failed().first)
        table.hasten(one)
        let due = table.due(at: .zero, jitter: { 0 })
        #expect(due == [one])
        table.answered(one, try reading(one, [.txt(long)]), at: .zero, jitter: 0)
        #expect(table[one]?.records.count == 1 && table[one]?.trouble == nil)
    }

    /// A zone's texts cost it no services: what they are found and reached by is still kept.
    @Test func whereTextsHaveNoRoomListsServicesAndAddressesHave() throws {
        var table = QuestionTable()
        let texts = (0..<600).map { Question(name("s\($0)._http._tcp.home.example.org"), .txt) }
        try ask(texts, answering: [.txt(text(234))], in: &table)
        let left = texts.filter { table[$0]?.trouble != nil }
        #expect(!left.isEmpty)
        let list = Question(name("_http._tcp.home.example.org"), .ptr)
        let names = (0..<1000).map { RecordData.ptr(name("s\($0)._http._tcp.home.example.org")) }
        try ask([list], answering: names, in: &table)
        let host = name("h1.home.example.org")
        let (service, address) = (Question(texts[0].name, .srv), Question(host, .a))
        try ask([service], answering: [.srv(priority: 0, weight: 0, port: 80, target: host)], in: &table)
        try ask([address], answering: [.a(0x0A00_0001)], in: &table)
        for (question, count) in [(list, 1000), (service, 1), (address, 1)] {
            #expect(table[question]?.trouble == nil && table[question]?.records.count == count, "\(question)")
        }
    }

    @Test func servicesAreKeptUpToAHigherLimitAndListsBeyondIt() throws {
        var table = QuestionTable()
        let text = Question(name("s0._http._tcp.home.example.org"), .txt)
        try ask([text], answering: [.txt([3, 0x6B, 0x3D, 0x76])], in: &table)
        let label = String(repeating: "x", count: 60)
        let target = name("\(label).\(label).\(label).home.example.org")
        let records = (0..<64).map { RecordData.srv(priority: $0, weight: 0, port: 80, target: target) }
        let questions = (0..<1200).map { Question(name("s\($0)._http._tcp.home.example.org"), .srv) }
        try ask(questions, answering: records, in: &table)
        let kept = questions.filter { table[$0]?.records.count == 64 }
        let left = questions.filter { table[$0]?.trouble?.contains("16 MiB") == true }
        #expect((700...1100).contains(kept.count), "\(kept.count)")
        #expect(kept.count + left.count == 1200)
        let list = Question(name("_http._tcp.home.example.org"), .ptr)
        try ask([list], answering: [.ptr(questions[0].name)], in: &table)
        #expect(table[list]?.trouble == nil && table[list]?.records.count == 1)
        // The same text again needs no more room than it has.
        table.hasten(text)
        let due = table.due(at: .zero, jitter: { 0 })
        #expect(due == [text])
        table.answered(text, try reading(text, [.txt([3, 0x6B, 0x3D, 0x78])]), at: .zero, jitter: 0)
        #expect(table[text]?.trouble == nil && table[text]?.records == [.txt([3, 0x6B, 0x3D, 0x78])])
    }

    /// As while a zone of many names is asked within the budget: there is always something left to send.
    @Test func theQueueIsAsLongAsWhatWaits() throws {
        var table = QuestionTable()
        let questions = (0..<100).map { Question(name("s\($0)._http._tcp.home.example.org"), .srv) }
        for question in questions { table.want(question, at: .zero, jitter: 0) }
        var sent = 0
        for round in 0..<1000 {
            let now = Duration.seconds(round)
            for question in table.due(at: now, jitter: { 0 }) {
                sent += 1
                table.answered(question, AnswerReading(failure: .silent("nobody")), at: now, jitter: 0)
                table.hasten(question)
            }
            #expect(table.deadline != nil)
        }
        #expect(sent == 16_000)
        #expect(table.queue.count < 3000, "\(table.queue.count)")
    }
}
