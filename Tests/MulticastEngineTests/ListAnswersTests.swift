import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("What the answers to a list say of it")
struct ListAnswersTests {
    private let start = Duration.seconds(100)
    private let tony = Tony()
    private let ann = PacketSource(UInt32(1))
    private let bob = PacketSource(UInt32(2))
    private var list: RecordKey { RecordKey(tony.type, .ptr) }

    private func at(_ milliseconds: Int) -> Duration { start + .milliseconds(milliseconds) }

    /// What Ann and Bob answer, each of them by these ways, soon and whole.
    private func answers(_ ann: [ListAnswers.Way], _ bob: [ListAnswers.Way]) -> ListAnswers {
        var answers = ListAnswers(from: start)
        for (source, ways) in [(self.ann, ann), (self.bob, bob)] {
            for way in ways {
                answers.answered(by: source, way, after: .milliseconds(way == .group ? 120 : 11), at: at(120))
            }
        }
        return answers
    }

    @Test("A list is whole where whoever answered did so by every way")
    func ways() {
        let cases: [([ListAnswers.Way], [ListAnswers.Way], ListAnswers.Verdict)] = [
            ([], [], .open),
            ([.group, .first, .again], [.group, .first, .again], .whole),
            // Bob has answered somebody else a moment ago, or both have: so may others have who answer the group alone.
            ([.group, .first, .again], [.first, .again], .open),
            ([.first, .again], [.first, .again], .open),
            // A packet was lost.
            ([.group, .first, .again], [.group, .again], .open),
            ([.group, .first, .again], [.first], .open),
            // Bob does not answer a port.
            ([.group, .first, .again], [.group], .open),
        ]
        for (ann, bob, verdict) in cases { #expect(answers(ann, bob).verdict(timesAsked: 1) == verdict) }
    }

    @Test("Of whom a port had an answer that left something out, the group's is waited for")
    func cut() {
        for source in [bob, nil] {
            var answers = answers([.group, .first, .again], [])
            answers.answered(by: source, .first, isWhole: false, after: .milliseconds(1), at: at(121))
            #expect(answers.verdict(timesAsked: 1) == .cut)
            answers.answered(by: ann, .group, at: at(1100))
            #expect(answers.verdict(timesAsked: 2) == .cut)
            answers.answered(by: source, .group, at: at(3000))
            #expect(answers.verdict(timesAsked: 3) == .open)
        }
    }

    @Test("An answer that is late, or of which records may have been left out, shows that there may be more")
    func doubtful() {
        let all: [ListAnswers.Way] = [.group, .first, .again]
        for (way, isWhole, delay, verdict) in [
            (.group, true, 180, .whole), (.group, true, 181, .open), (.first, true, 50, .whole),
            (.again, true, 51, .open), (.first, false, 1, .open),
        ] as [(ListAnswers.Way, Bool, Int, ListAnswers.Verdict)] {
            var answers = answers(all, all)
            answers.answered(by: bob, way, isWhole: isWhole, after: .milliseconds(delay), at: at(delay))
            #expect(answers.verdict(timesAsked: 1) == verdict)
        }
        // What comes six seconds later has another cause.
        var answers = answers(all, all)
        answers.answered(by: bob, .group, at: at(6000))
        #expect(answers.verdict(timesAsked: 1) == .whole)
    }

    @Test("This machine's own answers say nothing of the link; but if they come, they come by every way")
    func own() {
        let all: [ListAnswers.Way] = [.group, .first, .again]
        for own in [[], [.group], [.first, .again], all] as [[ListAnswers.Way]] {
            var answers = ListAnswers(from: start)
            for way in own { answers.answered(by: nil, way, after: .milliseconds(1), at: at(50)) }
            #expect(answers.verdict(timesAsked: 1) == .open)
            for way in all { answers.answered(by: ann, way, after: .milliseconds(1), at: at(50)) }
            // Another program on this machine has just listed what this one has: it says nothing of it to the group.
            #expect(answers.verdict(timesAsked: 1) == (own.isEmpty || own == all ? .whole : .open))
        }
    }

    @Test("A full packet is not the last of an answer")
    func unfinished() {
        var answers = answers([.group, .first, .again], [])
        for (source, isFull, verdict) in [
            (ann, true, ListAnswers.Verdict.unfinished), (bob, false, .unfinished), (ann, true, .unfinished),
            (ann, false, .open),
        ] {
            answers.answered(by: source, .group, isFull: isFull, after: .milliseconds(100), at: at(100))
            #expect(answers.verdict(timesAsked: 1) == verdict)
        }
        answers.answered(by: nil, .group, isFull: true, after: .milliseconds(100), at: at(100))
        #expect(answers.verdict(timesAsked: 1) == .unfinished)
    }

    @Test("After a full packet, questions of those who list what they know are a crowd, too, if nobody answers them")
    func crowdOfTheKnowing() {
        for (isFull, count, verdict) in [
            (true, 7, ListAnswers.Verdict.unfinished), (true, 8, .unanswered), (false, 8, .open),
        ] {
            var answers = ListAnswers(from: start)
            answers.answered(by: ann, .first, after: .milliseconds(100), at: at(100))
            answers.answered(by: ann, .group, isFull: isFull, after: .milliseconds(100), at: at(100))
            // The first second says nothing.
            for number in 0..<20 { answers.wasAsked(over: .ipv4, isKnowing: true, at: at(1000 + number)) }
            for number in 0..<count { answers.wasAsked(over: .ipv4, isKnowing: true, at: at(1100 + number)) }
            #expect(answers.verdict(timesAsked: 3) == verdict)
        }
    }

    @Test("Who answers the group and no port of ours, where a crowd asks, may be behind")
    func behind() {
        for (ways, count, verdict) in [
            ([.group], 7, ListAnswers.Verdict.unanswered), ([.group], 6, .unfinished), ([.group, .first], 7, .open),
        ] as [([ListAnswers.Way], Int, ListAnswers.Verdict)] {
            var answers = ListAnswers(from: start)
            for number in 0..<count { answers.wasAsked(over: .ipv6, isKnowing: number > 3, at: at(100 + number)) }
            for way in ways {
                answers.answered(by: ann, way, isFull: way == .group, after: .milliseconds(40), at: at(150))
            }
            // Where no port has asked, its silence says nothing.
            #expect(answers.verdict(timesAsked: 2) != .unanswered)
            answers.askedPort()
            #expect(answers.verdict(timesAsked: 2) == verdict)
        }
    }

    @Test("Five questions more than ours that nobody answers are a crowd before a silent host")
    func crowd() {
        var answers = ListAnswers(from: start)
        for (count, verdict) in [(6, ListAnswers.Verdict.open), (7, .unanswered)] {
            answers = ListAnswers(from: start)
            for number in 0..<count {
                for family in IPAddress.Family.allCases { answers.wasAsked(over: family, at: at(100 * number)) }
            }
            #expect(answers.verdict(timesAsked: 2) == verdict)
        }
        for way in [.first, .group] as [ListAnswers.Way] {
            answers.answered(by: ann, way, after: .milliseconds(50), at: at(800))
        }
        #expect(answers.verdict(timesAsked: 2) == .open)
        // A second later it is no longer silent because it has just answered.
        for number in 0..<5 { answers.wasAsked(over: .ipv4, at: at(1799 + number)) }
        #expect(answers.verdict(timesAsked: 2) == .open)
        answers.wasAsked(over: .ipv4, at: at(1900))
        #expect(answers.verdict(timesAsked: 2) == .unanswered)
    }

    /// A list of which the group and both questions from a port were answered by this many services of one host.
    /// - Returns: what the answers say, and how often it was asked from a port.
    private func answered(
        _ count: Int, size: Int, toGroup: Bool = true
    ) throws -> (verdict: ListAnswers.Verdict, asked: Int) {
        var asked = 0
        var link = LinkQuerier.test()
        link.ask(list, .shared, at: start)
        var now = start
        let services = (0..<count).map { Numbered().pointer($0) }
        while let deadline = link.deadline(at: now), deadline < at(300) {
            now = deadline
            if !link.packets(at: now).isEmpty, toGroup {
                _ = link.received(Message(flags: [.response], answers: services), isOwn: false, from: ann, at: now)
            }
            for packet in link.oneShotPackets(at: now) {
                asked += 1
                let question = try Message(reading: packet)
                let answer = Message(
                    id: question.id, flags: [.response], questions: question.questions, answers: services)
                _ = link.receivedOneShot(answer, isOwn: false, from: ann, size: size, at: now)
            }
        }
        return (link.verdict(on: list, at: now), asked)
    }

    @Test("RFC 6762 §6.7: an answer to a port ends at 512 bytes: a long one may have left out a name")
    func onALink() throws {
        #expect(try answered(3, size: 434) == (.whole, 2))
        #expect(try answered(3, size: 435) == (.open, 2))
        // Where a host has more than five services, the port asks for types.
        #expect(try answered(6, size: 434) == (.open, 2))
        // What several hosts have said to the port is not one host's: it asks for the list.
        #expect(try answered(6, size: 434, toGroup: false).asked == 2)
        // Who is silent to the group has answered somebody else a moment ago.
        #expect(try answered(3, size: 434, toGroup: false) == (.open, 2))
    }

    private struct Alone {
        /// What the host has.
        var services = (0..<8).map { Numbered().pointer($0) }
        /// How many of them the group hears.
        var heard = 8
        /// How many names its answer to the port that asks it lacks.
        var lacks = 0
        /// How long it takes to answer who asks it by itself; nil: it does not.
        var delay: Duration? = .zero
        /// Whether it says to a port that it has the type.
        var namesType = true
        var isOverIPv6 = false
        /// The size of its packet to the group.
        var size = 0
        /// Its address.
        var address: UInt32 = 0x0A00_0001
    }

    /// A list of a host with eight services and more, which is asked by itself.
    /// - Parameter family: over which the list is wanted; nil for both.
    /// - Returns: what the answers say, how often the host was asked, and how many of its services are known.
    private func askedAlone(
        _ host: Alone, over family: IPAddress.Family? = nil
    ) throws -> (verdict: ListAnswers.Verdict, asked: Int, known: Int) {
        let types = DomainName(text: "_services._dns-sd._udp.local")
        let services = host.services
        let sender = IPv4Address(bits: host.address)
        let source = PacketSource(.v4(sender))
        var link = LinkQuerier.test()
        link.neighbours([
            try #require(CIDR(containing: .v4(IPv4Address(bits: 0x0A00_0000)), prefixLength: 24))
        ])
        link.ask(list, .shared, at: start)
        var (now, asked) = (start, 0)
        while let deadline = link.deadline(at: now), deadline < at(800) {
            now = deadline
            if !link.packets(at: now).isEmpty {
                let answer = Message(flags: [.response], answers: Array(services.prefix(host.heard)))
                _ = link.received(answer, isOwn: false, from: source, sender: sender, size: host.size, at: now)
                if host.isOverIPv6 {
                    let other = Message(flags: [.response], answers: [Numbered().pointer(9)])
                    _ = link.received(other, isOwn: false, over: .ipv6, from: source, at: now)
                }
            }
            for packet in link.oneShotPackets(at: now) {
                let question = try Message(reading: packet)
                let named = host.namesType ? list.name : DomainName(text: "_other._tcp.local")
                let answer =
                    question.questions.first?.name == types
                    ? [ResourceRecord(types, .ptr, .ptr(named), ttl: 10)] : Array(services.prefix(5))
                let message = Message(
                    id: question.id, flags: [.response], questions: question.questions, answers: answer)
                _ = link.receivedOneShot(message, isOwn: false, from: source, sender: sender, size: 500, at: now)
            }
            for (to, packet) in link.hostPackets(at: now) {
                asked += 1
                let question = try Message(reading: packet)
                #expect(to == sender && question.id == 0 && question.questions.first?.wantsUnicastResponse == true)
                let known = question.answers.map(\.data)
                let missing = services.filter { !known.contains($0.data) }
                let answer = Message(flags: [.response], answers: Array(missing.dropLast(host.lacks)))
                if let delay = host.delay { _ = link.receivedFromHost(answer, to, at: now + delay) }
            }
        }
        // That its questions to the port are over changes nothing.
        let verdict = link.verdict(on: list, over: family, at: now)
        while let deadline = link.deadline(at: now), deadline < at(3000) {
            now = deadline
            _ = (link.packets(at: now), link.oneShotPackets(at: now), link.hostPackets(at: now))
        }
        if verdict == .whole { #expect(link.verdict(on: list, at: now) == .whole) }
        return (verdict, asked, link.cache.records(list).count)
    }

    @Test("RFC 6762 §5.5: a host with more services than an answer to a port holds shows by itself that they are all")
    func alone() throws {
        #expect(try askedAlone(Alone()) == (.whole, 1, 8))
        // What the group's answer lacked comes, and is asked about once more.
        #expect(try askedAlone(Alone(heard: 6)) == (.whole, 2, 8))
        #expect(try askedAlone(Alone(lacks: 1)).verdict == .slow)
        // A packet of five was lost: the port is asked for the list, its answer is cut, and the host named to it by its type.
        #expect(try askedAlone(Alone(heard: 3)) == (.whole, 2, 8))
        #expect(try askedAlone(Alone(namesType: false)).verdict == .open)
        #expect(try askedAlone(Alone(isOverIPv6: true)).verdict == .open)
        // It does not answer soon: it may be as slow to answer the group. What its answer to the port left out is the group's then.
        for delay in [nil, .milliseconds(51)] as [Duration?] {
            #expect(try askedAlone(Alone(delay: delay)) == (.slow, 1, 8))
        }
        #expect(try askedAlone(Alone(heard: 0, delay: nil)) == (.cut, 1, 5))
        // A packet holds more records of short names than are taken of others' answers to a port.
        let short = (0..<150).map {
            ResourceRecord(list.name, .ptr, .ptr(DomainName(text: "w\($0)._witap._tcp.local")), ttl: 4500)
        }
        #expect(try askedAlone(Alone(services: short, heard: 75)) == (.whole, 2, 150))
        // Off the link.
        #expect(try askedAlone(Alone(address: 0x0B00_0001)) == (.open, 0, 8))
    }

    @Test("What a host has shown by itself is shown over IPv4 alone; after that, its full packet leaves no doubt")
    func aloneOverOneFamily() throws {
        #expect(try askedAlone(Alone(), over: .ipv4).verdict == .whole)
        #expect(try askedAlone(Alone(), over: .ipv6).verdict == .open)
        #expect(try askedAlone(Alone(size: ListAnswers.full)).verdict == .whole)
        #expect(try askedAlone(Alone(size: ListAnswers.full), over: .ipv6).verdict == .open)
        #expect(try askedAlone(Alone(lacks: 1, size: ListAnswers.full)).verdict == .unfinished)
    }

    @Test("Where this machine has answered, too, what each host has shown by itself is not all")
    func aloneBesideThisMachine() {
        let host = IPv4Address(bits: 0x0A00_0001)
        let name = Numbered().name(1)
        for isOwn in [false, true] {
            var answers = answers([.group, .first, .again], [])
            for way in [.group, .first, .again] as [ListAnswers.Way] where isOwn {
                answers.answered(by: nil, way, after: .milliseconds(1), at: at(120))
            }
            answers.hosts.heard([name], from: host, at: at(120))
            answers.hosts.begin(at: at(160))
            #expect(answers.hosts.next(atMost: 1, at: at(160)).map(\.host) == [host])
            answers.hosts.asked(host, awaiting: [name], at: at(160))
            answers.hosts.answered([name], from: host, at: at(161))
            answers.hosts.judge(at: at(400))
            #expect(answers.hosts.areAllShown)
            #expect(answers.verdict(timesAsked: 1) == (isOwn ? .open : .whole))
        }
    }

    @Test(
        "Of a link that is asked anew, nobody has answered yet; a list that begins again is asked for from a port again"
    )
    func anew() throws {
        var link = LinkQuerier.test()
        var asked = 0
        func run(to end: Int) throws {
            var now = start
            while let deadline = link.deadline(at: now), deadline < at(end) {
                now = max(now, deadline)
                let answer = Message(flags: [.response], answers: [tony.pointer])
                if !link.packets(at: now).isEmpty { _ = link.received(answer, isOwn: false, from: ann, at: now) }
                for packet in link.oneShotPackets(at: now) {
                    asked += 1
                    let question = try Message(reading: packet)
                    let answer = Message(
                        id: question.id, flags: [.response], questions: question.questions, answers: [tony.pointer])
                    _ = link.receivedOneShot(answer, isOwn: false, from: ann, size: 100, at: now)
                }
            }
        }
        link.ask(list, .shared, at: start)
        try run(to: 300)
        #expect(link.verdict(on: list, at: at(300)) == .whole && asked == 2)
        link.restart(at: at(300))
        #expect(link.verdict(on: list, at: at(300)) == .open)
        link.stop(list)
        link.ask(list, .shared, at: at(300))
        try run(to: 700)
        #expect(link.verdict(on: list, at: at(700)) == .whole && asked == 4)
    }

    @Test("What a list's answers said is forgotten when it is over: a list that others begin later is judged by itself")
    func later() throws {
        var link = LinkQuerier.test()
        link.ask(list, .shared, at: start)
        for number in 0..<8 {
            let question = Message(questions: [Question(list.name, .ptr)])
            _ = link.received(question, isOwn: false, from: bob, at: at(100 * number))
        }
        #expect(link.verdict(on: list, at: at(4500)) == .unanswered)
        #expect(link.verdict(on: list, at: at(60_000)) == .open)
    }

    @Test("Who asks for one list with known answers of another knows nothing of the one")
    func knowing() throws {
        let other = RecordKey(DomainName(text: "_other._tcp.local"), .ptr)
        let known = ResourceRecord(
            other.name, .ptr, .ptr(DomainName(text: "a._other._tcp.local")), ttl: 4500)
        var link = LinkQuerier.test()
        for key in [list, other] { link.ask(key, .shared, at: start) }
        for number in 0..<8 {
            let question = Message(
                questions: [Question(list.name, .ptr), Question(other.name, .ptr)], answers: [known])
            _ = link.received(question, isOwn: false, from: bob, at: at(100 * number))
        }
        #expect(link.verdict(on: list, at: at(1000)) == .unanswered)
        #expect(link.verdict(on: other, at: at(1000)) == .open)
    }

    @Test("What an address of this machine says over IPv6, which others can forge, is not kept")
    func forged() throws {
        for isOwn in [false, true] {
            var link = LinkQuerier.test()
            link.ask(list, .shared, at: start)
            let due = try #require(link.deadline(at: start))
            _ = link.packets(at: due)
            var now = due
            var packets: [[UInt8]] = []
            while packets.isEmpty, let next = link.deadline(at: now) {
                now = next
                _ = link.packets(at: now)
                packets = link.oneShotPackets(at: now)
            }
            let question = try Message(reading: #require(packets.first))
            let service = Numbered().pointer(1)
            let answer = Message(
                id: question.id, flags: [.response], questions: question.questions, answers: [service])
            _ = link.receivedOneShot(answer, isFromHere: true, isOwn: isOwn, from: ann, size: 100, at: now)
            #expect(link.cache.has(list, service.data) == isOwn && link.cache.isOwn(list, service.data) == isOwn)
        }
    }

    @Test("A type that was named within ten seconds is not there for nothing")
    func named() throws {
        let types = DomainName(text: "_services._dns-sd._udp.local")
        var link = LinkQuerier.test()
        link.ask(RecordKey(types, .ptr), .shared, at: start)
        let named = ResourceRecord(types, .ptr, .ptr(tony.type), ttl: 4500)
        _ = link.received(Message(flags: [.response], answers: [named]), isOwn: false, at: start)
        link.ask(list, .shared, at: start)
        #expect(link.verdict(on: list, at: at(9000)) == .unanswered)
        #expect(link.verdict(on: list, at: at(10_000)) == .open)
        let other = RecordKey(DomainName(text: "_http._tcp.local"), .ptr)
        link.ask(other, .shared, at: start)
        #expect(link.verdict(on: other, at: at(9000)) == .open)
        _ = link.received(Message(flags: [.response], answers: [tony.pointer]), isOwn: false, at: at(9000))
        #expect(link.verdict(on: list, at: at(9000)) == .open)
    }

    @Test(
        "What others ask the group counts where all hear it, and not what lists known answers or comes from a port of its own"
    )
    func heard() {
        let question = Question(tony.type, .ptr)
        for (message, wentToAll, verdict) in [
            (Message(questions: [question]), true, .unanswered), (Message(questions: [question]), false, .open),
            (Message(id: 7, questions: [question]), true, .open),
            (Message(questions: [question], answers: [tony.pointer]), true, .open),
        ] as [(Message, Bool, ListAnswers.Verdict)] {
            var link = LinkQuerier.test()
            link.ask(list, .shared, at: start)
            for number in 0..<8 {
                _ = link.received(
                    message, isOwn: number.isMultiple(of: 2), wentToAll: wentToAll, at: at(100 * number))
            }
            #expect(link.verdict(on: list, at: at(800)) == verdict)
        }
    }
}
