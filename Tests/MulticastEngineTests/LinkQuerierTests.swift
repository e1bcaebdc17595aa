import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("A link's questions and answers")
struct LinkQuerierTests {
    private let start = Duration.seconds(100)
    private let tony = Tony()

    private var key: RecordKey { RecordKey(tony.host, .a) }

    private func known(_ change: (inout Message) -> Void) -> Bool {
        var link = LinkQuerier.test()
        var message = Message(flags: [.response, .authoritative], answers: [tony.address4])
        change(&message)
        _ = link.received(message, isOwn: false, at: start)
        return !link.cache.records(key).isEmpty
    }

    @Test("RFC 6762 §18.3 and §18.11: what is no query or response, or has an error, is ignored")
    func ignored() {
        #expect(known { _ in })
        #expect(!known { $0.opcode = 5 })
        #expect(!known { $0.flags.insert(Message.Flags(rawValue: 3)) })
        // A question with an error puts nothing in doubt.
        var link = LinkQuerier.test(knowing: tony.address4, at: start)
        let question = Message(flags: [Message.Flags(rawValue: 1)], questions: [Question(tony.host, .a)])
        for second in [2, 4, 6] { _ = link.received(question, isOwn: false, at: start + .seconds(second)) }
        #expect(link.cache.records(key).map(\.life.isEnding) == [false])
        #expect(!known { $0.flags.remove(.response) })
        // RFC 6762 §18.1, §18.4: neither id nor AA matters.
        #expect(known { $0.id = 77 })
        #expect(known { $0.flags.remove(.authoritative) })
    }

    @Test("What is asked for is the last to be forgotten")
    func wanted() throws {
        var limits = RecordCache.Limits()
        limits.records = 64
        var link = LinkQuerier(cache: RecordCache(limits: limits, seed: 1))
        link.ask(key, .unique(after: .zero), at: start)
        for number in -1..<200 {
            let other = ResourceRecord(try DomainName("x\(number).local"), .a, .a(0), ttl: 500)
            let response = Message(flags: [.response], answers: [number < 0 ? tony.address4 : other])
            _ = link.received(response, isOwn: false, at: start + .milliseconds(500 * number))
        }
        #expect(link.cache.count <= 64 && !link.cache.records(key).isEmpty)
    }

    @Test("A message that breaks off tells what came before, and neither flushes nor ends anything")
    func broken() throws {
        var other = tony.address4
        other.data = .a(0x0A00_0002)
        let last = try Message(flags: [.response], answers: [other, tony.address4.goodbye, tony.address6])
            .written(compression: .multicast)
        for (bytes, known) in [(last, 1), (Array(last.dropLast()), 2)] as [([UInt8], Int)] {
            var link = LinkQuerier.test(knowing: tony.address4, at: start)
            let heard = try #require(HeardMessage(bytes))
            let changes = link.received(heard.message, isOwn: false, at: start + .seconds(5))
            #expect(changes.contains(.added(key, other.data)))
            _ = link.advance(to: start + .seconds(7))
            #expect(link.cache.records(key).count == known)
        }
    }

    @Test("RFC 6762 §7.3 and §10.5: a question over one family counts once it was heard over the other, too")
    func oneFamily() {
        let message = Message(questions: [Question(tony.host, .a)])
        for (families, counts) in [([IPAddress.Family.ipv6], false), ([.ipv6, .ipv4], true)] {
            var link = LinkQuerier.test()
            link.uses([.ipv4, .ipv6])
            _ = link.received(Message(flags: [.response], answers: [tony.address4]), isOwn: false, at: start)
            for second in [2, 4, 6] {
                for family in families {
                    _ = link.received(message, isOwn: false, over: family, at: start + .seconds(second))
                }
            }
            #expect(link.cache.records(key).map(\.life.isEnding) == [counts])
        }
    }

    @Test(
        "RFC 6762 §7.3 and §10.5: probes, questions for unicast answers and those with more known answers to come count for nobody"
    )
    func notHeard() throws {
        let question = Question(tony.host, .a)
        var unicast = question
        unicast.wantsUnicastResponse = true
        let chaos = Question(tony.host, .a, recordClass: RecordClass(rawValue: 3))
        let messages = [
            (Message(questions: [question]), true),
            (Message(questions: [unicast]), false),
            (Message(questions: [chaos]), false),
            (Message(flags: [.truncated], questions: [question]), false),
            (Message(questions: [question], authorities: [tony.address4]), false),
        ]
        for (message, counts) in messages {
            var link = LinkQuerier.test(knowing: tony.address4, at: start)
            for second in [2, 4, 6] { _ = link.received(message, isOwn: false, at: start + .seconds(second)) }
            // No one answered: the record is in doubt.
            #expect(link.cache.records(key).map(\.life.isEnding) == [counts])
            var other = LinkQuerier.test()
            other.ask(key, .unique(after: .milliseconds(100)), at: start)
            _ = other.received(message, isOwn: false, at: start)
            #expect(other.timesAsked(key) == (counts ? 1 : 0))
        }
    }

    @Test("A packet that asks the same a thousand times counts once, and costs no more")
    func repeated() {
        var link = LinkQuerier.test()
        link.ask(key, .unique(after: .milliseconds(100)), at: start)
        let questions = Array(repeating: Question(tony.host, .a), count: 1480)
        let unknown = ResourceRecord(tony.type, .ptr, .ptr(tony.name), ttl: 4500)
        let message = Message(questions: questions, answers: [unknown])
        _ = link.received(message, isOwn: false, at: start)
        #expect(link.timesAsked(key) == 1)
    }

    @Test("What no service, no host and no alias is made of is not kept")
    func ofNoUse() {
        var link = LinkQuerier.test()
        let junk = ResourceRecord(tony.host, .hinfo, .hinfo(cpu: [65], os: [66]), ttl: 4500)
        let alias = ResourceRecord(tony.host, .cname, .cname(tony.name), ttl: 4500)
        _ = link.received(Message(flags: [.response], answers: [junk, alias]), isOwn: false, at: start)
        #expect(link.cache.count == 1 && link.cache.has(RecordKey(tony.host, .cname), .cname(tony.name)))
    }

    @Test("A name that is asked for now is asked at once, though whoever followed it would ask much later")
    func askedByName() {
        var link = LinkQuerier.test()
        link.ask(key, .unique(after: .milliseconds(20)), at: start)
        var now = start
        while now < start + .seconds(300), let deadline = link.deadline(at: now) {
            now = max(now, deadline)
            _ = link.oneShotPackets(at: now)
            _ = link.packets(at: now)
        }
        now += .seconds(2)
        let asked = link.timesAsked(key)
        link.ask(key, .unique(after: .zero), at: now)
        #expect(link.packets(at: now).count == 1)
        #expect(link.timesAsked(key) == asked + 1)
    }

    @Test(
        "RFC 6762 §10.4: a machine that slept asks for what it watches before it believes it, a second after the last question"
    )
    func slept() throws {
        var link = LinkQuerier.test()
        link.ask(key, .unique(after: .zero), at: start)
        #expect(link.packets(at: start).count == 1)
        _ = link.received(Message(flags: [.response], answers: [tony.address4]), isOwn: false, at: start)
        let later = start + .seconds(30)
        link.awoke(at: later)
        let asked = try link.packets(at: later).flatMap { try Message(reading: $0).questions }
        #expect(asked == [Question(tony.host, .a)])
        #expect(link.advance(to: later + .seconds(9)).isEmpty)
        #expect(link.advance(to: later + .seconds(10)) == [.removed(key, tony.address4.data)])
    }

    @Test(
        "A machine that slept asks its list first: what the answers bring is not asked for, and nothing ends that is answered"
    )
    func sleptLists() throws {
        var link = LinkQuerier.test()
        let list = RecordKey(tony.type, .ptr)
        let services = (0..<500).map { Numbered().all($0) }
        link.ask(list, .shared, at: start)
        for number in services.indices {
            for type in [.srv, .txt] as [RecordType] {
                link.ask(RecordKey(Numbered().name(number), type), .unique(after: .milliseconds(20)), at: start)
            }
        }
        for records in services {
            _ = link.received(Message(flags: [.response], answers: records), isOwn: false, at: start)
        }
        let woke = start + .seconds(60)
        link.awoke(at: woke)
        var (now, asked): (Duration, [Question]) = (woke, [])
        while let deadline = link.deadline(at: now), deadline <= woke + .milliseconds(250) {
            now = max(now, deadline)
            _ = link.oneShotPackets(at: now)
            asked += try link.packets(at: now).flatMap { try Message(reading: $0).questions }
        }
        #expect(asked == [Question(list.name, .ptr)])
        for records in services.dropLast() {
            _ = link.received(Message(flags: [.response], answers: records), isOwn: false, at: now)
        }
        while let deadline = link.deadline(at: now), deadline <= woke + .milliseconds(900) {
            now = max(now, deadline)
            _ = link.oneShotPackets(at: now)
            asked += try link.packets(at: now).flatMap { try Message(reading: $0).questions }
        }
        #expect(Set(asked.dropFirst().map(\.name)) == [Numbered().name(499)])
        let ended = link.advance(to: woke + .seconds(20))
        #expect(Set(ended.map { $0.key.name }) == [Numbered().name(499), list.name])
    }

    @Test("RFC 6762 §10.4: a service that cannot be reached is asked for anew, and ends after 10 s without an answer")
    func unreachable() throws {
        var link = LinkQuerier.test()
        let keys = [RecordKey(tony.name, .srv), RecordKey(tony.name, .txt), key, RecordKey(tony.host, .aaaa)]
        for key in keys { link.ask(key, .unique(after: .milliseconds(20)), at: start) }
        _ = link.received(Message(flags: [.response], answers: tony.all), isOwn: false, at: start)
        #expect(link.packets(at: start + .milliseconds(20)).isEmpty)
        let later = start + .seconds(30)
        link.reconfirm(tony.name, at: later)
        let asked = try link.packets(at: later).flatMap { try Message(reading: $0).questions }
        #expect(Set(asked.map { RecordKey($0.name, $0.type) }) == Set(keys))
        // The host answers for its addresses alone.
        let addresses = [tony.address4, tony.address6]
        _ = link.received(Message(flags: [.response], answers: addresses), isOwn: false, at: later + .seconds(1))
        #expect(link.advance(to: later + .milliseconds(9999)).isEmpty)
        #expect(Set(link.advance(to: later + .seconds(10)).map(\.key)) == Set(keys.prefix(2)))
    }

    @Test("RFC 6762 §10.4: a service that cannot be reached is asked for more than once, and the second answer will do")
    func unreachableOnceLost() throws {
        var link = LinkQuerier.test()
        let keys = [RecordKey(tony.name, .srv), RecordKey(tony.name, .txt), key, RecordKey(tony.host, .aaaa)]
        for key in keys { link.ask(key, .unique(after: .milliseconds(20)), at: start) }
        _ = link.received(Message(flags: [.response], answers: tony.all), isOwn: false, at: start)
        #expect(link.packets(at: start + .milliseconds(20)).isEmpty)
        let later = start + .seconds(30)
        var asked: [Duration] = []
        link.reconfirm(tony.name, at: later)
        for second in 0..<10 {
            let questions = try link.packets(at: later + .seconds(second))
                .flatMap { try Message(reading: $0).questions }
            guard !questions.isEmpty else { continue }
            #expect(Set(questions.map { RecordKey($0.name, $0.type) }) == Set(keys))
            asked.append(.seconds(second))
        }
        #expect(asked == [0, 1, 3, 7].map { .seconds($0) })
        // Answered late, but in time.
        _ = link.received(
            Message(flags: [.response], answers: tony.all), isOwn: false, at: later + .milliseconds(9900))
        #expect(link.advance(to: later + .seconds(20)).isEmpty)

        // Only the second question is answered: nothing ends, and nothing more is asked.
        let again = start + .seconds(60)
        link.reconfirm(tony.name, at: again)
        #expect(link.packets(at: again).count == 1)
        #expect(link.packets(at: again + .seconds(1)).count == 1)
        _ = link.received(
            Message(flags: [.response], answers: tony.all), isOwn: false, at: again + .milliseconds(1100))
        #expect((2..<20).allSatisfy { link.packets(at: again + .seconds($0)).isEmpty })
        #expect(link.advance(to: again + .seconds(20)).isEmpty)
    }

    @Test("What was left out for want of room is asked for again when there is room")
    func refilled() throws {
        var limits = RecordCache.Limits()
        limits.sharedRecords = 32
        var link = LinkQuerier(
            cache: RecordCache(limits: limits, seed: 1), schedule: QuestionSchedule(random: SeededGenerator(seed: 5)))
        let list = RecordKey(tony.type, .ptr)
        link.ask(list, .shared, at: start)
        for second in [1, 2, 5] { _ = link.packets(at: start + .seconds(second)) }
        var pointers = (0..<40).map { Numbered().pointer($0) }
        for number in 0..<8 { pointers[number].ttl = 60 }
        _ = link.received(Message(flags: [.response], answers: pointers), isOwn: false, at: start + .seconds(6))
        #expect(link.cache.isFull)
        let asked = link.timesAsked(list)
        _ = link.advance(to: start + .seconds(67))
        #expect(!link.cache.isFull)
        #expect(link.packets(at: start + .milliseconds(67_200)).count == 1)
        #expect(link.timesAsked(list) == asked + 1)
    }

    @Test("RFC 6762 §5.4: no question ever asks for a unicast answer")
    func neverUnicast() throws {
        var link = LinkQuerier.test()
        for number in 0..<50 {
            link.ask(RecordKey(DomainName(text: "h\(number).local"), .a), .unique(after: .zero), at: start)
        }
        link.ask(RecordKey(tony.type, .ptr), .shared, at: start)
        var now = start
        var questions: [Question] = []
        while now < start + .seconds(60), let deadline = link.deadline(at: now) {
            now = max(now, deadline)
            _ = link.oneShotPackets(at: now)
            questions += try link.packets(at: now).flatMap { try Message(reading: $0).questions }
        }
        #expect(questions.count > 150)
        #expect(questions.allSatisfy { !$0.wantsUnicastResponse })
    }

    @Test("A service that left is no reason to ask all others again")
    func leaving() {
        var link = LinkQuerier.test()
        let list = RecordKey(tony.type, .ptr)
        link.ask(list, .shared, at: start)
        for second in [1, 2, 5] { _ = link.packets(at: start + .seconds(second)) }
        _ = link.received(Message(flags: [.response], answers: [tony.pointer]), isOwn: false, at: start + .seconds(6))
        let asked = link.timesAsked(list)
        _ = link.received(
            Message(flags: [.response], answers: [tony.pointer.goodbye]), isOwn: false, at: start + .seconds(7))
        #expect(link.advance(to: start + .seconds(8)) == [.removed(list, tony.pointer.data)])
        _ = link.packets(at: start + .seconds(8))
        #expect(link.timesAsked(list) == asked)
    }
}

extension RecordCache.Change {
    fileprivate var key: RecordKey {
        switch self {
        case .added(let key, _), .removed(let key, _), .heard(let key, _, _), .unheard(let key, _, _): key
        }
    }
}
