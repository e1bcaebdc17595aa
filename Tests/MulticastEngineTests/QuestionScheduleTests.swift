import DNSMessage
import DNSSD
import MulticastEngine
import Responder
import Testing

@Suite("QuestionSchedule")
struct QuestionScheduleTests {
    private let type: RecordKey
    private let start = Duration.seconds(100)

    init() throws { type = RecordKey(try DomainName("_witap._tcp.local"), .ptr) }

    private func nothing(_ key: RecordKey) -> QuestionSchedule.Knowledge {
        QuestionSchedule.Knowledge(answers: [], need: .full)
    }

    private func schedule(_ rate: TokenBucket = TokenBucket(burst: 50, perSecond: 100)) -> QuestionSchedule {
        QuestionSchedule(rate: rate, random: SeededGenerator(seed: 5))
    }

    /// All packets until a time, each with its time of sending.
    private func run(
        _ schedule: inout QuestionSchedule, from begin: Duration, until end: Duration,
        knows: (RecordKey) -> QuestionSchedule.Knowledge
    ) throws -> [(time: Duration, message: Message)] {
        var (sent, now): ([(Duration, Message)], Duration) = ([], begin)
        while let deadline = schedule.deadline(at: now), deadline <= end {
            now = max(now, deadline)
            for packet in schedule.packets(at: now, knows: knows) { sent.append((now, try Message(reading: packet))) }
        }
        return sent
    }

    @Test(
        "RFC 6762 §5.2: the first question for what many answer comes after 20 to 120 ms, the next 1, 3, 9, 27 s after it and so on, an hour apart at most"
    )
    func shared() throws {
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        let sent = try run(&schedule, from: start, until: start + .seconds(40_000), knows: nothing)
        let times = sent.map(\.time)
        #expect(Duration.milliseconds(20)...Duration.milliseconds(120) ~= times[0] - start)
        let waits = Array(zip(times.dropFirst(), times).map { $0 - $1 })
        #expect(Array(waits.prefix(8)) == [1, 2, 6, 18, 54, 162, 486, 1458].map { Duration.seconds($0) })
        #expect(waits.dropFirst(8).allSatisfy { $0 == Duration.seconds(3600) })
        #expect(sent.allSatisfy { $0.message.questions == [Question(type.name, .ptr)] && $0.message.id == 0 })
        #expect(schedule.timesAsked(type) == sent.count)
    }

    @Test("First waits differ, within 20 to 120 ms")
    func firstWaits() throws {
        var schedule = schedule()
        for number in 0..<40 { schedule.ask(RecordKey(try DomainName("t\(number).local"), .ptr), .shared, at: start) }
        let sent = try run(&schedule, from: start, until: start + .milliseconds(500), knows: nothing)
        #expect(Set(sent.map(\.time)).count > 20)
        #expect(sent.allSatisfy { Duration.milliseconds(20)...Duration.milliseconds(121) ~= $0.time - start })
        #expect(sent.flatMap(\.message.questions).count == 40)
    }

    @Test("Where hosts have no cause to ask together lists are asked for at once, in one packet; a restart waits")
    func together() throws {
        var schedule = schedule()
        schedule.waitsUntil = start
        let other = RecordKey(try DomainName("_other._tcp.local"), .ptr)
        let early = RecordKey(try DomainName("_early._tcp.local"), .ptr)
        let waiting = schedule.ask(early, .shared, at: start - .milliseconds(1))
        #expect(try #require(waiting) >= start + .milliseconds(19))
        let first = schedule.ask(type, .shared, at: start)
        #expect(try #require(first) - start <= .milliseconds(2))
        #expect(schedule.ask(other, .shared, at: start + .milliseconds(1)) == first)
        let sent = try run(&schedule, from: start, until: start + .milliseconds(10), knows: nothing)
        #expect(sent.map(\.time) == [first] && Set(sent[0].message.questions.map(\.name)) == [type.name, other.name])
        let restart = start + .seconds(5)
        schedule.restartAll(at: restart)
        let again = try run(&schedule, from: restart, until: restart + .milliseconds(200), knows: nothing).map(\.time)
        #expect(try #require(again.first) >= restart + .milliseconds(20))
    }

    @Test("Hosts may ask together for 10 s after a start, a change of links or a sleep, and for 2 min after a boot")
    func unrest() {
        #expect(Unrest(at: .seconds(5)).end == .seconds(120) && Unrest(at: .seconds(115)).end == .seconds(125))
        var unrest = Unrest.ofCommand
        #expect(unrest.end == .seconds(120))
        unrest.begins(at: .seconds(5001))
        #expect(unrest.end == .seconds(5011))
    }

    @Test("A question for one name is asked at once, and not at all where the answer came before, or was denied")
    func unique() throws {
        var schedule = schedule()
        let keys = try (0..<4).map { RecordKey(try DomainName("h\($0).local"), .a) }
        schedule.ask(keys[0], .unique(after: .zero), at: start)
        for key in keys.dropFirst() { schedule.ask(key, .unique(after: .milliseconds(20)), at: start) }
        let sent = try run(&schedule, from: start, until: start + .milliseconds(900)) { key in
            switch key {
            case keys[1]:
                QuestionSchedule.Knowledge(answers: [ResourceRecord(key.name, .a, .a(1), ttl: 9)], need: .none)
            case keys[2]: QuestionSchedule.Knowledge(answers: [], need: QuestionSchedule.Need.none)
            default: nothing(key)
            }
        }
        #expect(sent.map(\.time) == [start, start + .milliseconds(20)])
        #expect(sent.map { $0.message.questions.map(\.name) } == [[keys[0].name], [keys[3].name]])
        #expect(schedule.timesAsked(keys[1]) == 0)
    }

    @Test("A question whose answer is known is looked at seldom, and asked at once where the answer has gone")
    func known() throws {
        var schedule = schedule()
        let key = RecordKey(try DomainName("h1.local"), .a)
        var looks = 0
        schedule.ask(key, .unique(after: .zero), at: start)
        let sent = try run(&schedule, from: start, until: start + .seconds(20)) { _ in
            looks += 1
            return QuestionSchedule.Knowledge(answers: [], need: .answered)
        }
        #expect(sent.isEmpty)
        // At once, after 8 s, and after 16 more.
        #expect(looks == 2)
        schedule.restart(key, at: start + .seconds(20))
        let asked = try run(&schedule, from: start + .seconds(20), until: start + .seconds(22), knows: nothing)
        #expect(asked.map(\.time) == [start + .seconds(20), start + .seconds(21)])
    }

    @Test("Whoever asks what is asked already does not ask the link; the last to stop ends the question")
    func users() throws {
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        schedule.ask(type, .shared, at: start)
        schedule.ask(type, .unique(after: .zero), at: start)
        #expect(try run(&schedule, from: start, until: start + .milliseconds(500), knows: nothing).count == 1)
        schedule.stop(type)
        schedule.stop(type)
        #expect(try run(&schedule, from: start, until: start + .seconds(3), knows: nothing).count == 1)
        schedule.stop(type)
        schedule.stop(type)
        #expect(schedule.count == 0)
        #expect(try run(&schedule, from: start, until: start + .seconds(9000), knows: nothing).isEmpty)
    }

    @Test("A list that is wanted where somebody waits for one answer of it is asked for anew, after a second")
    func becomesList() throws {
        var schedule = schedule()
        schedule.ask(type, .unique(after: .zero), at: start)
        let later = start + .milliseconds(100)
        #expect(try run(&schedule, from: start, until: later, knows: nothing).map(\.time) == [start])
        #expect(schedule.ask(type, .shared, at: later) == start + .seconds(1))
        #expect(schedule.ask(type, .shared, at: later) == nil)
        schedule.stop(type)
        schedule.stop(type)
        let sent = try run(&schedule, from: later, until: start + .seconds(40)) { _ in
            QuestionSchedule.Knowledge(answers: [], need: .answered)
        }
        #expect(sent.map { $0.time - start } == [1, 2, 4, 10, 28].map { Duration.seconds($0) })
    }

    @Test("RFC 6762 §7.1 and §7.2: known answers go along, over several packets that say so but for the last")
    func knownAnswers() throws {
        var schedule = schedule()
        let known = try (0..<200).map {
            ResourceRecord(type.name, .ptr, .ptr(try DomainName("Service \($0)._witap._tcp.local")), ttl: 4000)
        }
        schedule.ask(type, .shared, at: start)
        let sent = try run(&schedule, from: start, until: start + .milliseconds(200)) { _ in
            QuestionSchedule.Knowledge(answers: known, need: .full)
        }
        #expect(sent.count > 2)
        #expect(sent.flatMap(\.message.answers) == known)
        #expect(sent.map(\.message.questions.count) == [1] + Array(repeating: 0, count: sent.count - 1))
        #expect(
            sent.map { $0.message.flags.contains(.truncated) } == Array(repeating: true, count: sent.count - 1) + [
                false
            ])
        #expect(sent.allSatisfy { (try? $0.message.written(compression: .multicast).count <= 1440) == true })
    }

    @Test("RFC 6762 §7.3: another host's question takes the place of ours, unless it knows what we do not")
    func suppression() throws {
        let mine = ResourceRecord(type.name, .ptr, .ptr(try DomainName("a._witap._tcp.local")), ttl: 4000)
        let theirs = ResourceRecord(type.name, .ptr, .ptr(try DomainName("b._witap._tcp.local")), ttl: 4000)
        let knows = { (_: RecordKey) in QuestionSchedule.Knowledge(answers: [mine], need: .none) }
        for (known, count) in [([], 0), ([mine], 0), ([theirs], 1), ([mine, theirs], 1)] {
            var schedule = schedule()
            schedule.ask(type, .shared, at: start)
            schedule.heard(Question(type.name, .ptr), knownAnswers: known, at: start) { $1 == mine.data }
            #expect(try run(&schedule, from: start, until: start + .milliseconds(900), knows: knows).count == count)
            #expect(schedule.timesAsked(type) == 1)
        }
        // Nor does one that comes just after ours: it would be the second in the second for which responders are silent.
        for after in [200, 700] {
            var schedule = schedule()
            schedule.ask(type, .shared, at: start)
            let asked = try #require(schedule.deadline(at: start))
            _ = try run(&schedule, from: start, until: asked, knows: knows)
            schedule.heard(Question(type.name, .ptr), knownAnswers: [], at: asked + .milliseconds(after)) { _, _ in true
            }
            #expect(schedule.timesAsked(type) == 1)
        }
        // A question that is due much later is asked nonetheless.
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        _ = try run(&schedule, from: start, until: start + .milliseconds(3000), knows: knows)
        schedule.heard(Question(type.name, .ptr), knownAnswers: [], at: start + .milliseconds(2000)) { _, _ in true }
        #expect(schedule.timesAsked(type) == 2)
    }

    @Test("Who lists an answer that is not known here is remembered until it was asked for, a second later or more")
    func behind() throws {
        let theirs = ResourceRecord(type.name, .ptr, .ptr(try DomainName("b._witap._tcp.local")), ttl: 4000)
        let knows = { (_: RecordKey) in QuestionSchedule.Knowledge(answers: [], need: .none) }
        // The known answers of many packets come behind the question (RFC 6762 §7.2).
        for questions in [[Question(type.name, .ptr)], []] {
            var schedule = schedule()
            schedule.ask(type, .shared, at: start)
            #expect(!schedule.isBehind(type) { _, _ in false })
            for question in questions {
                schedule.heard(question, knownAnswers: [theirs], at: start) { _, _ in false }
            }
            if questions.isEmpty { schedule.heardMore([theirs], at: start) { _, _ in false } }
            #expect(schedule.isBehind(type) { _, _ in false })
            // It may have come meanwhile.
            #expect(!schedule.isBehind(type) { _, _ in true })
            // A responder that takes the other program and this one for the same does not answer this question.
            #expect(try run(&schedule, from: start, until: start + .milliseconds(900), knows: knows).count == 1)
            #expect(schedule.isBehind(type) { _, _ in false })
            #expect(try run(&schedule, from: start, until: start + .milliseconds(1200), knows: knows).count == 1)
            #expect(!schedule.isBehind(type) { _, _ in false })
        }
    }

    @Test("Of what others list a part is remembered, and that there is more")
    func behindByMany() throws {
        let theirs = try (0..<100).map {
            ResourceRecord(type.name, .ptr, .ptr(try DomainName("\($0)._witap._tcp.local")), ttl: 4000)
        }
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        schedule.heard(Question(type.name, .ptr), knownAnswers: theirs, at: start) { _, _ in false }
        // The packets with the first of them have come, and that with the last has not.
        #expect(schedule.isBehind(type) { _, data in theirs.prefix(64).contains { $0.data == data } })
        let knows = { (_: RecordKey) in QuestionSchedule.Knowledge(answers: [], need: .none) }
        _ = try run(&schedule, from: start, until: start + .milliseconds(1200), knows: knows)
        #expect(!schedule.isBehind(type) { _, _ in false })
    }

    @Test("A second after another has listed what is not known here, it is asked for; once, not each time")
    func catchingUp() throws {
        let theirs = ResourceRecord(type.name, .ptr, .ptr(try DomainName("b._witap._tcp.local")), ttl: 4000)
        let knows = { (_: RecordKey) in QuestionSchedule.Knowledge(answers: [], need: .none) }
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        let first = try #require(schedule.deadline(at: start))
        _ = try run(&schedule, from: start, until: first, knows: knows)
        schedule.heard(Question(type.name, .ptr), knownAnswers: [theirs], at: first + .milliseconds(600)) { _, _ in
            false
        }
        #expect(try run(&schedule, from: first, until: first + .milliseconds(1590), knows: knows).isEmpty)
        #expect(try run(&schedule, from: first, until: first + .milliseconds(1610), knows: knows).count == 1)
        schedule.heard(Question(type.name, .ptr), knownAnswers: [theirs], at: first + .milliseconds(1800)) { _, _ in
            false
        }
        #expect(try run(&schedule, from: first, until: first + .milliseconds(3500), knows: knows).isEmpty)
    }

    @Test("What grows old is asked for whatever is known, a second after the last question at the earliest")
    func refresh() throws {
        var schedule = schedule()
        let key = RecordKey(try DomainName("h1.local"), .a)
        let knows = { (key: RecordKey) in
            QuestionSchedule.Knowledge(answers: [ResourceRecord(key.name, .a, .a(1), ttl: 9)], need: .none)
        }
        schedule.ask(key, .unique(after: .zero), at: start)
        #expect(try run(&schedule, from: start, until: start + .seconds(80), knows: knows).isEmpty)
        schedule.refresh(key, at: start + .seconds(80))
        schedule.refresh(key, at: start + .seconds(80))
        #expect(try run(&schedule, from: start + .seconds(80), until: start + .seconds(80), knows: knows).count == 1)
        schedule.refresh(key, at: start + .milliseconds(80_100))
        let sent = try run(&schedule, from: start + .milliseconds(80_100), until: start + .seconds(90), knows: knows)
        #expect(sent.map(\.time) == [start + .seconds(81)])
    }

    @Test("From the beginning: at once where it was not asked within a second, and with the first intervals")
    func restart() throws {
        var schedule = schedule()
        schedule.ask(type, .shared, at: start)
        _ = try run(&schedule, from: start, until: start + .seconds(1000), knows: nothing)
        schedule.restart(type, at: start + .seconds(1000))
        let sent = try run(&schedule, from: start + .seconds(1000), until: start + .seconds(1010), knows: nothing)
        #expect(sent.map { $0.time - start - .seconds(1000) } == [.zero, .seconds(1), .seconds(3), .seconds(9)])
    }

    @Test("Whoever asks, and whatever: a burst of 50 packets, then 100 a second")
    func rate() throws {
        var schedule = schedule()
        for number in 0..<10_000 {
            let name = try DomainName("_type\(number)-with-a-rather-long-name._tcp.local")
            schedule.ask(RecordKey(name, .ptr), .shared, at: start)
        }
        let sent = try run(&schedule, from: start, until: start + .seconds(3), knows: nothing)
        for second in 0..<3 {
            let count = sent.count { $0.time - start < .seconds(second + 1) }
            #expect(count <= 50 + 100 * (second + 1))
        }
        let names = sent.flatMap(\.message.questions).map(\.name)
        #expect(Set(names).count == 10_000)
    }

    @Test("One name that somebody waits for is asked at once, before thousands of questions and known answers")
    func namedFirst() throws {
        var schedule = schedule()
        for number in 0..<20_000 {
            let name = try DomainName("_type\(number)-with-a-rather-long-name._tcp.local")
            schedule.ask(RecordKey(name, .ptr), .shared, at: start)
        }
        let begin = start + .milliseconds(1500)
        let before = try run(&schedule, from: start, until: begin, knows: nothing)
        #expect(schedule.isSending)
        // One that is new, and one that somebody follows already: its turn has not come, or its packet waits.
        let followed = RecordKey(try DomainName("_type19999-with-a-rather-long-name._tcp.local"), .txt)
        schedule.ask(followed, .unique(after: .milliseconds(20)), at: start + .milliseconds(1490))
        _ = schedule.packets(at: begin + .milliseconds(10), knows: nothing)
        schedule.hasten(followed, at: begin + .milliseconds(20))
        let new = RecordKey(try DomainName("h1.local"), .a)
        schedule.ask(new, .unique(after: .zero), at: begin + .milliseconds(20))
        let sent = try run(&schedule, from: begin + .milliseconds(20), until: begin + .milliseconds(20), knows: nothing)
        #expect(Set(try #require(sent.first).message.questions.map(\.name)) == [followed.name, new.name])
        let rest = try run(&schedule, from: begin + .milliseconds(20), until: start + .seconds(3), knows: nothing)
        #expect(before.count + sent.count + rest.count <= 50 + 300)
    }

    @Test("Names that somebody waits for do not keep lists from being asked, however many they are")
    func namedNotAlone() throws {
        var schedule = schedule()
        for number in 0..<20_000 {
            let name = try DomainName("host\(number)-with-a-rather-long-name.local")
            schedule.ask(RecordKey(name, .a), .unique(after: .zero), at: start)
        }
        schedule.ask(type, .shared, at: start)
        let sent = try run(&schedule, from: start, until: start + .seconds(1), knows: nothing)
        #expect(sent.contains { $0.message.questions.contains(Question(type.name, .ptr)) })
        #expect(sent.count <= 150)
    }

    @Test("Everything anew: lists first, and 300 ms later what their answers have not brought; one name at once")
    func anew() throws {
        var schedule = schedule()
        let host = RecordKey(try DomainName("h1.local"), .a)
        let other = RecordKey(try DomainName("h2.local"), .a)
        let named = RecordKey(try DomainName("h3.local"), .a)
        schedule.ask(type, .shared, at: start)
        for key in [host, other] { schedule.ask(key, .unique(after: .milliseconds(20)), at: start) }
        schedule.ask(named, .unique(after: .zero), at: start)
        _ = try run(&schedule, from: start, until: start + .seconds(60), knows: nothing)
        let later = start + .seconds(100)
        schedule.restartAll(at: later)
        var sent = try run(&schedule, from: later, until: later + .milliseconds(200), knows: nothing)
        sent += try run(&schedule, from: later + .milliseconds(200), until: later + .milliseconds(900)) { key in
            QuestionSchedule.Knowledge(answers: [], need: key == host ? QuestionSchedule.Need.none : .full)
        }
        let asked = sent.flatMap { packet in packet.message.questions.map { (packet.time - later, $0.name) } }
        #expect(asked.map(\.1) == [named.name, type.name, other.name])
        #expect(asked[0].0 == .zero)
        #expect(Duration.milliseconds(20)...Duration.milliseconds(121) ~= asked[1].0)
        #expect(asked[2].0 == .milliseconds(300))
    }
}
