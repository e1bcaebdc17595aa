import DNSMessage
import DNSSD
import MulticastEngine
import Responder
import Testing

@Suite("What a host is asked for")
struct SourceBudgetTests {
    private let start = Duration.seconds(100)

    @Test(
        "What a host lists and nobody answers for is asked for ever less; what somebody waits for, and another host's, is not"
    )
    func budget() throws {
        func keys(_ prefix: String, _ count: Int) throws -> [RecordKey] {
            try (0..<count).map { RecordKey(try DomainName("\(prefix)\($0).local"), .srv) }
        }
        let rate = TokenBucket(burst: 10_000, perSecond: 10_000)
        var schedule = QuestionSchedule(rate: rate, random: SeededGenerator(seed: 5))
        for key in try keys("silent", 30_000) {
            schedule.ask(key, .unique(after: .milliseconds(20)), from: PacketSource(1), at: start)
        }
        func questions(from begin: Duration, until end: Duration) throws -> Int {
            var (sent, now) = (0, begin)
            while let deadline = schedule.deadline(at: now), deadline <= end {
                now = max(now, deadline)
                for packet in schedule.packets(at: now, knows: Self.nothing) {
                    sent += try Message(reading: packet).questions.count
                }
            }
            return sent
        }
        let late = start + .seconds(90)
        // 1024, then 64 after 2, 4, 8, 16 and 32 s.
        #expect(try questions(from: start, until: late) == 1024 + 5 * 64)
        let named = try keys("named", 100)
        for key in named { schedule.ask(key, .unique(after: .zero), at: late) }
        #expect(try questions(from: late, until: late + .milliseconds(900)) == 100)
        for key in named { schedule.stop(key) }

        // Whoever answers is asked for everything.
        let honest = try keys("honest", 5000)
        var left = Set(honest)
        var now = late + .seconds(1)
        for key in honest { schedule.ask(key, .unique(after: .milliseconds(20)), from: PacketSource(2), at: now) }
        let end = now + .seconds(1)
        while !left.isEmpty, let deadline = schedule.deadline(at: now), deadline <= end {
            now = max(now, deadline)
            for packet in schedule.packets(at: now, knows: Self.nothing) {
                for question in try Message(reading: packet).questions {
                    let key = RecordKey(question.name, question.type)
                    schedule.answered(by: [ResourceRecord(key.name, key.type, .a(1), ttl: 9)], at: now)
                    schedule.stop(key)
                    left.remove(key)
                }
            }
        }
        #expect(left.isEmpty)
    }

    private static func nothing(_ key: RecordKey) -> QuestionSchedule.Knowledge {
        QuestionSchedule.Knowledge(answers: [], need: .full)
    }
}
