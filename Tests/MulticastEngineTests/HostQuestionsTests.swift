import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("Whether that is all, asked of each host by itself")
struct HostQuestionsTests {
    private let start = Duration.seconds(100)
    private let ann = IPv4Address(bits: 0x0A00_0001)
    private let bob = IPv4Address(bits: 0x0A00_0002)

    private func at(_ milliseconds: Int) -> Duration { start + .milliseconds(milliseconds) }

    private func names(_ numbers: Range<Int>) -> Set<DomainName> { Set(numbers.map { Numbered().name($0) }) }

    /// Ann has named eight services, and is asked at 160 ms; she is told all but the first.
    /// Judges, and returns who is asked next.
    private func next(
        _ hosts: inout HostQuestions, atMost limit: Int = 200, at now: Duration
    ) -> [(host: IPv4Address, names: Set<DomainName>)] {
        hosts.judge(at: now)
        return hosts.next(atMost: limit, at: now)
    }

    private func asked(_ count: Int = 8) -> HostQuestions {
        var hosts = HostQuestions()
        hosts.heard(names(0..<count), from: ann, at: at(100))
        hosts.begin(at: at(160))
        for (host, _) in next(&hosts, at: at(160)) { hosts.asked(host, awaiting: names(0..<1), at: at(160)) }
        return hosts
    }

    @Test("A host that names exactly what it was not told has named all, once its answer is over")
    func shown() {
        var hosts = asked()
        #expect(hosts.deadline == at(660))
        hosts.answered(names(1..<2), from: ann, at: at(161))
        #expect(hosts.deadline == at(660))
        hosts.answered(names(0..<1), from: bob, at: at(162))
        #expect(hosts.deadline == at(660))
        hosts.answered(names(0..<1), from: ann, at: at(165))
        hosts.answered([], from: ann, at: at(170))
        #expect(!hosts.areAllShown && hosts.awaits(ann) && hosts.deadline == at(345))
        #expect(next(&hosts, at: at(344)).isEmpty && !hosts.areAllShown)
        #expect(next(&hosts, at: at(345)).isEmpty && hosts.shown == [ann])
        #expect(hosts.areAllShown && !hosts.awaits(ann) && hosts.deadline == nil)
        // Another one has to show it, too.
        hosts.heard(names(20..<22), from: bob, at: at(350))
        #expect(!hosts.areAllShown && hosts.deadline == at(370))
        #expect(next(&hosts, at: at(370)).map(\.host) == [bob])
    }

    @Test("An answer that takes more than 50 ms shows nothing; one that does not end is judged after half a second")
    func slow() {
        for (time, isShown) in [(210, true), (211, false)] {
            var hosts = asked()
            hosts.answered(names(0..<1), from: ann, at: at(time))
            #expect(hosts.awaits(ann) == isShown && next(&hosts, at: at(660)).isEmpty)
            #expect(hosts.areAllShown == isShown && hosts.deadline == nil)
        }
        var hosts = asked()
        for time in stride(from: 165, through: 655, by: 10) { hosts.answered(names(0..<1), from: ann, at: at(time)) }
        #expect(hosts.deadline == at(660))
    }

    @Test("One that names more is asked again, three times at most, when its answer is over")
    func more() {
        for (rounds, isShown) in [(1, true), (2, true), (3, false)] {
            var hosts = asked()
            for round in 1...rounds {
                hosts.answered(names(0..<(7 + round)), from: ann, at: at(165))
                // What it has not named yet may be in the next packet.
                hosts.answered(names(0..<(8 + round)), from: ann, at: at(170))
                #expect(!hosts.areAllShown && hosts.awaited == [ann])
                for (host, known) in next(&hosts, at: at(200 * (round + 1))) {
                    #expect(known == names(0..<(8 + round)))
                    hosts.asked(host, awaiting: names(0..<1), at: at(160))
                }
            }
            hosts.answered(names(0..<1), from: ann, at: at(165))
            _ = next(&hosts, at: at(1000))
            #expect(hosts.areAllShown == isShown && hosts.deadline == nil && hosts.awaited.isEmpty)
        }
    }

    @Test(
        "RFC 6762 §5.4: what a host has not said to the group for a second comes to the group, while its answer is waited for"
    )
    func toGroup() {
        for (time, isShown) in [(300, false), (345, true)] {
            var hosts = asked()
            hosts.answered(names(0..<1), from: ann, at: at(161))
            if time < 340 { hosts.heard(names(8..<40), from: ann, at: at(time)) }
            let due = next(&hosts, at: at(345))
            #expect(hosts.areAllShown == isShown && due.map(\.names) == (isShown ? [] : [names(0..<40)]))
        }
    }

    @Test("Who answers a port twice is two responders: what one of them shows is not all")
    func shared() {
        for (ways, isShown) in [
            ([.first, .again], true), ([.first, .again, .again], false), ([.again, .again], false),
        ]
            as [([ListAnswers.Way], Bool)]
        {
            var hosts = asked()
            for way in ways { hosts.answeredPort(ann, way) }
            hosts.answered(names(0..<1), from: ann, at: at(165))
            #expect(next(&hosts, at: at(700)).isEmpty && hosts.areAllShown == isShown && hosts.isAsking)
        }
    }

    @Test("A host that has listed nothing yet shows nothing by its first answer")
    func first() {
        for answer in [names(0..<0), names(0..<3)] {
            var hosts = HostQuestions()
            hosts.begin(at: at(160))
            hosts.answeredPort(ann, .first)
            #expect(next(&hosts, at: at(160)).map(\.names) == [[]])
            hosts.asked(ann, awaiting: [], at: at(160))
            hosts.answered(answer, from: ann, at: at(165))
            #expect(hosts.deadline == (answer.isEmpty ? at(660) : at(345)))
            #expect(next(&hosts, at: at(660)).map(\.names) == (answer.isEmpty ? [] : [answer]))
            #expect(!hosts.areAllShown)
        }
    }

    @Test("Hosts are asked when the group has been silent for 20 ms, or after 300")
    func quiet() {
        var hosts = HostQuestions()
        #expect(hosts.deadline == nil && !hosts.areAllShown)
        hosts.begin(at: at(160))
        #expect(hosts.deadline == nil)
        for time in stride(from: 150, through: 600, by: 10) {
            hosts.heard(names(0..<1), from: ann, at: at(time))
            #expect(hosts.deadline == at(min(max(160, time + 20), 460)))
        }
    }

    @Test("One that does not answer, or has more than 256 services, shows nothing")
    func silent() {
        var hosts = asked()
        #expect(hosts.deadline == at(660))
        #expect(next(&hosts, at: at(660)).isEmpty && !hosts.awaits(ann) && hosts.deadline == nil)
        hosts.answered(names(0..<1), from: ann, at: at(165))
        #expect(!hosts.areAllShown)
        #expect(asked(256).awaits(ann))
        // Before any is asked, answers to a port may still show it.
        #expect(!asked(257).mayAsk && !asked(257).isAsking)
        // While hosts are asked, nothing else shows it: answers to a port name types alone.
        hosts = HostQuestions()
        hosts.heard(names(0..<200), from: ann, at: at(100))
        hosts.begin(at: at(160))
        hosts.heard(names(200..<300), from: ann, at: at(110))
        #expect(!hosts.mayAsk && hosts.isAsking && !hosts.areAllShown && hosts.deadline == nil)
        hosts = asked()
        hosts.answered(names(0..<256), from: ann, at: at(165))
        #expect(hosts.mayAsk)
        hosts = asked()
        hosts.answered(names(0..<257), from: ann, at: at(165))
        #expect(!hosts.mayAsk && hosts.isAsking && !hosts.areAllShown)
    }

    @Test("As many are asked as there is room for, and none where there are more than 128")
    func bounds() {
        for (room, isShown) in [(128, true), (127, false)] {
            var hosts = HostQuestions()
            for number in 0..<UInt32(128) {
                hosts.heard(names(0..<1), from: IPv4Address(bits: 0x0A01_0000 + number), at: at(100))
            }
            hosts.begin(at: at(160))
            let due = hosts.next(atMost: room, at: at(170))
            for (host, names) in due { hosts.asked(host, awaiting: names, at: at(170)) }
            #expect(due.count == room && hosts.awaited.count == room && next(&hosts, at: at(170)).isEmpty)
            for (host, names) in due { hosts.answered(names, from: host, at: at(171)) }
            _ = next(&hosts, at: at(360))
            #expect(hosts.areAllShown == isShown && hosts.shown.count == room)
            hosts.answeredPort(IPv4Address(bits: 0x0A02_0000), .first)
            #expect(!hosts.mayAsk && hosts.isAsking && !hosts.areAllShown && hosts.deadline == nil)
        }
    }

    @Test("Where each host's answers to a port show the same, nothing is kept and no one is asked")
    func over() {
        var hosts = HostQuestions()
        hosts.heard(names(0..<8), from: ann, at: at(100))
        hosts.stop()
        hosts.begin(at: at(160))
        hosts.heard(names(0..<8), from: bob, at: at(170))
        #expect(hosts.deadline == nil && !hosts.mayAsk && !hosts.isAsking && !hosts.areAllShown)
    }
}
