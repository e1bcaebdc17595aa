import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("One-shot questions")
struct OneShotQuestionsTests {
    private let start = Duration.seconds(100)
    private let due = Duration.seconds(100) + .milliseconds(10)
    private let tony = Tony()
    private var key: RecordKey { RecordKey(tony.name, .srv) }

    private func asked(_ count: Int = 1) -> OneShotQuestions {
        var questions = OneShotQuestions(random: SeededGenerator(seed: 5))
        for number in 0..<count {
            questions.ask(number == 0 ? key : RecordKey(Numbered().name(number), .srv), at: start)
        }
        return questions
    }

    private func packets(_ questions: inout OneShotQuestions, at now: Duration) -> [[UInt8]] {
        questions.packets(at: now, question: { key, _ in key }, mayLeave: { true })
    }

    /// The answer to the question in a packet, changed, and what of it is believed.
    private func believed(
        after: Duration = .milliseconds(1), _ change: (inout Message) -> Void = { _ in }
    ) throws -> [ResourceRecord] {
        var questions = asked()
        let question = try Message(reading: try #require(packets(&questions, at: due).first))
        var answer = Message(
            id: question.id, flags: [.response, .authoritative], questions: question.questions,
            answers: [tony.service(), tony.address4])
        change(&answer)
        return questions.received(answer, at: due + after)
    }

    @Test("RFC 6762 §5.1: 10 ms after the multicast question, with an ID, one question a packet, once")
    func form() throws {
        var questions = asked()
        questions.ask(RecordKey(tony.name, .txt), at: start)
        questions.ask(key, at: start)
        #expect(questions.deadline == due)
        let sent = try packets(&questions, at: due).map { try Message(reading: $0) }
        #expect(sent.map(\.questions) == [[Question(tony.name, .srv)], [Question(tony.name, .txt)]])
        #expect(Set(sent.map(\.id)).count == 2 && !sent.contains { $0.id == 0 })
        #expect(questions.isOpen)
        questions.ask(key, at: due + .milliseconds(1))
        #expect(packets(&questions, at: due + .seconds(1)).isEmpty)
        // Nothing is left of it after two seconds.
        #expect(questions.deadline == due + .seconds(2))
        _ = packets(&questions, at: due + .seconds(2))
        #expect(!questions.isOpen && questions.deadline == nil)
    }

    @Test("A list is asked for twice where somebody has just asked for one answer of it, and not the other way round")
    func listBesideAnswer() {
        var questions = asked()
        #expect(packets(&questions, at: due).count == 1)
        questions.ask(key, .list, at: due)
        questions.ask(key, .list, at: due)
        questions.ask(key, at: due)
        #expect(packets(&questions, at: due + .milliseconds(120)).count == 1)
        #expect(packets(&questions, at: due + .milliseconds(160)).count == 1)
        #expect(packets(&questions, at: due + .seconds(1)).isEmpty)
    }

    @Test("What was answered meanwhile, and what the rate does not allow, is not asked")
    func notNeeded() {
        var questions = asked()
        #expect(questions.packets(at: due, question: { _, _ in nil }, mayLeave: { true }).isEmpty)
        questions.ask(key, at: due)
        #expect(questions.packets(at: due + .seconds(1), question: { key, _ in key }, mayLeave: { false }).isEmpty)
        #expect(!questions.isOpen && questions.deadline == nil)
    }

    @Test("An answer without id and question answers all open questions that it has records for")
    func withoutQuestion() {
        let list = RecordKey(DomainName(text: "_witap._tcp.local"), .ptr)
        for keys in [[key, list], [list, key]] {
            var questions = OneShotQuestions(random: SeededGenerator(seed: 5))
            for key in keys { questions.ask(key, .confirmation, at: start) }
            #expect(packets(&questions, at: start).count == 2)
            let answer = Message(flags: [.response, .authoritative], answers: tony.all)
            #expect(Set(questions.receivedWithoutQuestion(answer, at: start + .milliseconds(1))) == Set(tony.all))
            #expect(questions.isAnswered(key) && questions.isAnswered(list))
        }
    }

    @Test("However many names are waited for, 32 questions are open")
    func bounded() {
        var questions = asked(100)
        #expect(packets(&questions, at: due).count == 32)
    }

    @Test("RFC 6762 §6.7: an answer with the question and its ID is believed, for 10 s at most, and flushes nothing")
    func answered() throws {
        let records = try believed()
        #expect(records.map(\.name) == [tony.name, tony.host])
        #expect(records.allSatisfy { $0.ttl == 10 && !$0.flushesCache })
        #expect(try believed { $0.answers[0].ttl = 3 }.first?.ttl == 3)
    }

    @Test(
        "What nobody asked, asks itself, has another ID or question, an error, or comes after 2 s is not believed",
        arguments: 0..<7)
    func forged(_ kind: Int) throws {
        let late = Duration.seconds(kind == 0 ? 2 : 0)
        let records = try believed(after: late) { answer in
            switch kind {
            case 1: answer.id &+= 1
            case 2: answer.flags.remove(.response)
            case 3: answer.questions = []
            case 4: answer.questions = [Question(DomainName(text: "eve._witap._tcp.local"), .srv)]
            case 5: answer.questions.append(Question(tony.host, .a))
            case 6: answer.flags.insert(Message.Flags(rawValue: 3))
            default: break
            }
        }
        #expect(records.isEmpty)
    }

    @Test("Of an answer only what is about the name and its hosts is believed: no list, no goodbye, no other name")
    func unrelated() throws {
        let other = ResourceRecord(DomainName(text: "eve.local"), .a, .a(1), ttl: 10)
        let records = try believed { $0.answers = [tony.service(), tony.address4.goodbye, tony.pointer, other] }
        #expect(records.map(\.type) == [.srv])
    }

    @Test("Where a host has answered so, what it leaves out is asked for at once")
    func silent() throws {
        var questions = asked()
        let question = try Message(reading: try #require(packets(&questions, at: due).first))
        let answer = Message(
            id: question.id, flags: .response, questions: question.questions, answers: [tony.service()])
        #expect(questions.received(answer, at: due).count == 1)
        questions.ask(RecordKey(tony.host, .a), at: due)
        #expect(packets(&questions, at: due).count == 1)
    }

    @Test("A link asks once what is missing, keeps to its rate, and tells of what was answered")
    func onALink() throws {
        var link = LinkQuerier(
            cache: RecordCache(seed: 1), schedule: QuestionSchedule(random: SeededGenerator(seed: 5)),
            oneShots: OneShotQuestions(random: SeededGenerator(seed: 6)))
        link.ask(key, .unique(after: .zero), at: start)
        link.askOnce(key, at: start)
        #expect(link.packets(at: start).count == 1)
        #expect(link.deadline(at: start) == due)
        let sent = try link.oneShotPackets(at: due).map { try Message(reading: $0) }
        let question = try #require(sent.first)
        #expect(link.awaitsOneShots)
        let answer = Message(
            id: question.id, flags: .response, questions: question.questions, answers: [tony.service()])
        let changes = link.receivedOneShot(answer, isOwn: false, at: due)
        #expect(changes == [.added(key, tony.service().data)])
        // The multicast question before the record ends keeps it.
        #expect(link.cache.records(key).map(\.life.expires) == [due + .seconds(10)])
        _ = link.advance(to: due + .milliseconds(8200))
        #expect(link.packets(at: due + .milliseconds(8200)).count == 1)
        // A known name is not asked for.
        link.askOnce(key, at: due + .seconds(9))
        #expect(link.oneShotPackets(at: due + .seconds(9) + .milliseconds(10)).isEmpty)
    }

    @Test("A one-shot answer ends no record and shortens none, but keeps one that would end sooner")
    func kept() {
        var cache = RecordCache(seed: 7)
        let host = RecordKey.host
        _ = cache.receive([.address(1, ttl: 120), .address(2, ttl: 120), .address(3, ttl: 120)], at: start)
        _ = cache.receive([.address(2, ttl: 0)], at: start + .seconds(2))
        let answer: [ResourceRecord] = [.address(1, ttl: 10), .address(2, ttl: 10), .address(3, ttl: 0)]
        #expect(cache.receive(answer, isOneShot: true, at: start + .milliseconds(2500)).isEmpty)
        _ = cache.advance(to: start + .seconds(4))
        #expect(Set(cache.records(host).map(\.life.expires)) == [start + .seconds(120), start + .milliseconds(12_500)])
        #expect(cache.count == 3)
    }

    @Test("RFC 2181 §8: what one asker is told with a TTL above 2³¹ counts as gone, as it does to the group")
    func oddTTL() throws {
        #expect(try believed { $0.answers[0].ttl = 1 << 31 }.isEmpty)
        let service = tony.service()
        let odd = ResourceRecord(service.name, .srv, service.data, ttl: .max)
        var questions = OneShotQuestions(random: SeededGenerator(seed: 5))
        questions.ask(key, .confirmation, at: start)
        #expect(packets(&questions, at: start).count == 1)
        let answer = Message(flags: [.response, .authoritative], answers: [odd])
        #expect(questions.receivedWithoutQuestion(answer, at: start + .milliseconds(1)).isEmpty)
        var cache = RecordCache(seed: 7)
        #expect(cache.receive([odd], isOneShot: true, at: start).isEmpty && cache.count == 0)
    }
}
