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
    private func asked(_ count: Int = 8) -> HostQuestions {
        var hosts = HostQuestions()
        hosts.heard(names(0..<count), from: ann, at: at(100))
        hosts.begin(at: at(160))
        for (host, _) in hosts.next(at: at(160)) { hosts.asked(host, awaiting: names(0..<1), at: at(160)) }
        return hosts
    }

    @Test("A host that names exactly what it was not told has named all")
    func shown() {
        var hosts = asked()
        #expect(!hosts.areAllShown && hosts.awaits(ann))
        hosts.answered(names(1..<2), from: ann)
        #expect(!hosts.areAllShown)
        hosts.answered(names(0..<1), from: bob)
        #expect(!hosts.areAllShown)
        hosts.answered(names(0..<1), from: ann)
        #expect(hosts.areAllShown && !hosts.awaits(ann) && hosts.deadline == nil)
        // Another one has to show it, too.
        hosts.heard(names(20..<22), from: bob, at: at(170))
        #expect(!hosts.areAllShown && hosts.deadline == at(190))
        #expect(hosts.next(at: at(190)).map(\.host) == [bob])
    }

    @Test("One that names more is asked again, three times at most")
    func more() {
        for (rounds, isShown) in [(1, true), (2, true), (3, false)] {
            var hosts = asked()
            for round in 1...rounds {
                hosts.answered(names(0..<(8 + round)), from: ann)
                #expect(!hosts.areAllShown && !hosts.awaits(ann))
                for (host, known) in hosts.next(at: at(200)) {
                    #expect(known == names(0..<(8 + round)))
                    hosts.asked(host, awaiting: names(0..<1), at: at(200))
                }
            }
            hosts.answered(names(0..<1), from: ann)
            #expect(hosts.areAllShown == isShown)
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
        #expect(hosts.deadline == at(2160))
        #expect(hosts.next(at: at(2160)).isEmpty && !hosts.awaits(ann) && hosts.deadline == nil)
        hosts.answered(names(0..<1), from: ann)
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
        hosts.answered(names(0..<256), from: ann)
        #expect(hosts.mayAsk)
        hosts = asked()
        hosts.answered(names(0..<257), from: ann)
        #expect(!hosts.mayAsk && hosts.isAsking && !hosts.areAllShown)
    }

    @Test("64 hosts are asked at a time, and none where there are more than 128")
    func bounds() {
        var hosts = HostQuestions()
        let many = (0..<128).map { IPv4Address(bits: 0x0A01_0000 + $0) }
        for host in many { hosts.heard(names(0..<1), from: host, at: at(100)) }
        hosts.begin(at: at(160))
        var asked: Set<IPv4Address> = []
        while case let due = hosts.next(at: at(170)), !due.isEmpty {
            #expect(due.count <= 64)
            for (host, names) in due { hosts.asked(host, awaiting: names, at: at(170)) }
            #expect(hosts.next(at: at(170)).isEmpty)
            for (host, names) in due { hosts.answered(names, from: host) }
            asked.formUnion(due.map(\.host))
        }
        #expect(asked == Set(many) && hosts.areAllShown)
        hosts.hasList(IPv4Address(bits: 0x0A02_0000))
        #expect(!hosts.mayAsk && hosts.isAsking && !hosts.areAllShown && hosts.next(at: at(200)).isEmpty)
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
