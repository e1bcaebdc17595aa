import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("What the questions of others are worth")
struct OthersQuestionTests {
    private let start = Duration.seconds(100)
    private let tony = Tony()

    private var key: RecordKey { RecordKey(tony.host, .a) }

    @Test(
        "RFC 6762 §7.3 and §10.5: a question in a frame to this host alone counts for nobody, but what it knows is noted"
    )
    func alone() throws {
        let question = Question(tony.host, .a)
        var link = LinkQuerier.test(knowing: tony.address4, at: start)
        for second in [2, 4, 6] {
            _ = link.received(
                Message(questions: [question]), isOwn: false, wentToAll: false, at: start + .seconds(second))
        }
        #expect(link.cache.records(key).map(\.life.isEnding) == [false])
        var other = LinkQuerier.test()
        let list = RecordKey(tony.type, .ptr)
        other.ask(list, .shared, at: start)
        let known = ResourceRecord(tony.type, .ptr, .ptr(tony.name), ttl: 4500)
        let message = Message(questions: [Question(tony.type, .ptr)], answers: [known])
        _ = other.received(message, isOwn: false, wentToAll: false, at: start)
        #expect(other.timesAsked(list) == 0)
        #expect(other.isBehind(list))
        _ = other.received(Message(flags: [.response], answers: [known]), isOwn: false, at: start)
        #expect(!other.isBehind(list))
    }

    @Test("RFC 6762 §10.5: before a record ends because others were not answered, it is asked for here")
    func doubted() throws {
        var link = LinkQuerier.test(knowing: tony.address4, at: start)
        link.ask(key, .unique(after: .zero), at: start)
        let message = Message(questions: [Question(tony.host, .a)])
        _ = link.received(message, isOwn: false, at: start + .seconds(2))
        #expect(link.packets(at: start + .seconds(3)).isEmpty)
        _ = link.received(message, isOwn: false, at: start + .seconds(4))
        #expect(link.cache.records(key).map(\.life.isEnding) == [true])
        let asked = try link.packets(at: start + .seconds(5)).flatMap { try Message(reading: $0).questions }
        #expect(asked == [Question(tony.host, .a)])
        _ = link.received(Message(flags: [.response], answers: [tony.address4]), isOwn: false, at: start + .seconds(5))
        #expect(link.advance(to: start + .seconds(20)).isEmpty)
    }

    @Test("Of two questions in a row one is ours, however often others ask")
    func taken() throws {
        let list = RecordKey(tony.type, .ptr)
        var link = LinkQuerier.test()
        link.ask(list, .shared, at: start)
        var sent: [Duration] = []
        for step in 0..<400 {
            let now = start + .milliseconds(50 * step)
            _ = link.received(Message(questions: [Question(tony.type, .ptr)]), isOwn: false, at: now)
            if !link.packets(at: now).isEmpty { sent.append(now) }
        }
        #expect(sent.count == 2)
        #expect(sent.first.map { $0 <= start + .milliseconds(1050) } == true)
        #expect(link.timesAsked(list) == 4)
    }
}
