import DNSMessage
import DNSSD

// RFC 6762 §8, §10.1: ends, and links that come back.
extension Rule {
    /// The records of a run that a goodbye has ended.
    private static func goodbyes(_ bench: Bench, since mark: Int) -> [ResourceRecord] {
        bench.responses(since: mark, over: .ipv4).flatMap(\.answers).filter { $0.ttl == 0 }
    }

    @Sendable private static func ends(_ bench: Bench, by signal: Signal) throws {
        let run = try bench.usual()
        bench.spoil()
        let mark = bench.mark
        try bench.subject.end(process: 1, by: signal)
        try bench.pass(1.3)
        let ended = goodbyes(bench, since: mark)
        var wanted: [(DomainName, RecordType)] = [(Names.type, .ptr), (run.instance, .srv), (run.instance, .txt)]
        if bench.subject.abilities.contains(.subtypes) {
            wanted.append((Names.name("_sub1._sub._conf._tcp.local"), .ptr))
        }
        for (name, type) in wanted {
            try bench.expect(
                ended.contains { $0.name == name && $0.type == type },
                "no goodbye for \(type) of \(name) within 1.3 s of SIG\(signal.rawValue)")
        }
    }

    static let ending: [Rule] = [
        Rule(
            84, .should, "10.1", "An end: goodbyes for all its records within a second, by SIGTERM and SIGINT",
            "A service that is gone is listed for up to 75 minutes"
        ) { bench in
            try ends(bench, by: .TERM)
            try ends(bench, by: .INT)
        },
        Rule(
            85, .should, "10.1",
            "One of two services ends: the other is answered, and the type stays; with the last it goes",
            "Browsers lose a type that is there, or keep one that is not"
        ) { bench in
            try bench.need(.several)
            try bench.start([Service(), Service("anna", port: 9001)])
            let run = try bench.settle()
            try bench.quiet()
            let mark = bench.mark
            try bench.subject.withdraw(port: 9001)
            try bench.pass(2.5)
            let ended = goodbyes(bench, since: mark)
            try bench.expect(ended.contains { $0.pointer == run.instances[9001] }, "no goodbye for the one")
            try bench.expect(!ended.contains { $0.name == Names.types }, "a goodbye for the type")
            try bench.expect(
                !ended.contains { $0.name == run.instances[9000] || $0.pointer == run.instances[9000] },
                "a goodbye for the other")
            let said = try bench.ask([run.list])
            try bench.expect(
                try bench.answer(said) { $0.pointer == run.instances[9000] } != nil, "the other one is not answered")
        },
        Rule(
            86, .must, "10.1", "Nothing is answered after a goodbye",
            "A service that is gone comes back into lists"
        ) { bench in
            let run = try bench.usual()
            bench.spoil()
            let mark = bench.mark
            try bench.subject.end(process: 1, by: .TERM)
            let end = try bench.wait(3, since: mark) { $0.records.contains { $0.ttl == 0 } }
            try bench.expect(end != nil, "no goodbye")
            try bench.pass(0.3)
            let said = try bench.ask([run.list, Question(run.instance, .any)])
            try bench.silence(said, for: 1.2, "after the goodbye") {
                ($0.name == run.instance || $0.pointer == run.instance) && $0.ttl > 0
            }
        },
        Rule(
            87, .must, "8", "A link that is back: probed for and announced there",
            "After a cable or Wi-Fi was away others do not see it for an hour"
        ) { bench in
            try bench.need(.host)
            let run = try bench.usual()
            bench.spoil()
            try bench.subject.change(.link(isUp: false))
            try bench.pass(3)
            let mark = bench.mark
            try bench.subject.change(.link(isUp: true))
            let told = try bench.isTold(run.instance, within: 10, since: mark)
            try bench.expect(told != nil, "not announced within 10 s")
            let probes = bench.said(since: mark).filter { $0.probes(for: run.instance) }
            try bench.expect(!probes.isEmpty, "announced, but not probed for")
        },
        Rule(
            88, .must, "8", "A link that comes later: probed for and announced there, with its address",
            "After Wi-Fi has connected nobody sees it there"
        ) { bench in
            try bench.need(.links)
            let run = try bench.usual()
            bench.spoil()
            let mark = bench.mark
            defer { try? bench.subject.change(.secondLink(isThere: false, onFirst: false)) }
            try bench.subject.change(.secondLink(isThere: true, onFirst: false))
            let told = try bench.wait(10, since: mark) { packet in
                packet.link == 1 && packet.isResponse
                    && packet.records.contains { $0.name == run.instance && $0.type == .srv }
            }
            try bench.expect(told != nil, "not announced there within 10 s")
            try bench.expect(
                bench.said(since: mark).contains { $0.link == 1 && $0.probes(for: run.instance) },
                "announced, but not probed for")
            try bench.pass(3)
            let addresses = bench.responses(since: mark).filter { $0.link == 1 }.flatMap(\.records).filter {
                $0.type == .a
            }.map(\.data)
            try bench.expect(addresses.contains(.a(0x0A4E_0001)), "the link's address is not told")
        },
        Rule(
            89, .must, "14", "Each link by itself: answers, addresses and rates",
            "Clients get addresses of other networks, or no answer at all"
        ) { bench in
            try bench.need(.links)
            try bench.stop()
            defer { try? bench.subject.change(.secondLink(isThere: false, onFirst: false)) }
            try bench.subject.change(.secondLink(isThere: true, onFirst: false))
            try bench.start()
            let run = try bench.settle()
            try bench.quiet()
            let mark = bench.mark
            let question = Message(questions: [Question(run.instance, .srv)])
            try bench.send(question, on: 1)
            let answer = try bench.wait(0.7, since: mark) {
                $0.link == 1 && $0.isResponse && $0.records.contains { $0.port == 9000 }
            }
            try bench.expect(answer != nil, "not answered on the second link")
            try bench.expect(
                !bench.responses(since: mark).contains { $0.link == 0 },
                "the first link hears what was asked on the second")
            let addresses = answer?.records.filter { $0.type == .a }.map(\.data) ?? []
            try bench.expect(!addresses.contains(.a(0x0A4D_0001)), "an address of the other link")
            let said = try bench.ask([Question(run.instance, .srv)])
            try bench.expect(
                try bench.answer(said, Question(run.instance, .srv)) != nil,
                "what was said on one link is not said on the other")
        },
    ]
}
