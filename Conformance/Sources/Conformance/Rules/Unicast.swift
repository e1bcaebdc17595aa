import DNSMessage
import DNSSD

// RFC 6762 §5.4, §5.5, §6.7: answers to one host alone.
extension Rule {
    static let unicast: [Rule] = [
        Rule(
            60, .should, "5.4", "A question for a unicast answer is answered so, and not to the group",
            "Every start of a client makes noise for all"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv, wantsUnicastResponse: true)])
            let answer = try bench.answer(said, Question(run.instance, .srv), toGroup: false)
            try bench.pass(0.3)
            let toGroup = bench.responses(since: said.mark).filter(\.isToGroup)
            try bench.expect(answer != nil, toGroup.isEmpty ? "no answer" : "answered to the group alone")
            try bench.expect(
                answer?.destination.address == Station.one.v4 && answer?.destination.port == 5353,
                "to another address or port")
            try bench.expect(toGroup.isEmpty, "answered to the group, too")
        },
        Rule(
            61, .should, "5.4", "But to the group where that has not heard it for a quarter of its TTL",
            "Caches of the others grow old, and they ask again"
        ) { bench in
            let run = try bench.usual()
            let first = try bench.ask([Question(run.instance, .srv)])
            try bench.expect(try bench.answer(first, Question(run.instance, .srv)) != nil, "no answer")
            try bench.pass(32)
            let said = try bench.ask([Question(run.instance, .srv, wantsUnicastResponse: true)])
            try bench.expect(try bench.answer(said, Question(run.instance, .srv)) != nil, "not to the group after 32 s")
        },
        Rule(
            62, .should, "11", "From an address of another network such a question is answered to the group",
            "Hosts whose prefix differs are not answered; packets leave the link"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv, wantsUnicastResponse: true)], from: .far)
            let answer = try bench.answer(said, Question(run.instance, .srv))
            try bench.expect(answer != nil, "not answered to the group")
        },
        Rule(
            63, .should, "5.4", "Both kinds of questions in a packet are answered, each in its way",
            "One of the two is not answered, or all hear what one asked"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([
                Question(run.instance, .srv, wantsUnicastResponse: true), Question(run.instance, .txt),
            ])
            try bench.pass(0.7)
            let answers = bench.responses(since: said.mark, over: .ipv4)
            try bench.expect(
                answers.contains { !$0.isToGroup && $0.answers.contains { $0.type == .srv } },
                "SRV is not answered by unicast")
            try bench.expect(
                answers.contains { $0.isToGroup && $0.answers.contains { $0.type == .txt } },
                "TXT is not answered to the group")
            try bench.expect(
                !answers.contains { $0.isToGroup && $0.answers.contains { $0.type == .srv } },
                "SRV goes to the group, too")
        },
        Rule(
            64, .should, "5.5", "A question to the host itself is answered by unicast",
            "Who knows the host cannot ask it directly"
        ) { bench in
            let run = try bench.usual()
            guard let address = run.address(.ipv4) else { throw Bench.Deviation(seen: "no IPv4 address") }
            let said = try bench.ask([Question(run.instance, .srv)], to: address)
            let answer = try bench.answer(said, Question(run.instance, .srv), toGroup: false)
            try bench.expect(
                answer != nil, bench.responses(since: said.mark).isEmpty ? "no answer" : "answered to the group")
        },
        Rule(
            65, .should, "5.5", "But not where it comes from another network",
            "The whole Internet can ask what is on the link, and use it to flood others"
        ) { bench in
            try bench.need(.host)
            let run = try bench.usual()
            guard let address = run.address(.ipv4) else { throw Bench.Deviation(seen: "no IPv4 address") }
            try bench.subject.change(.route("10.99.0.0/24"))
            let control = try bench.ask([Question(run.instance, .srv)], to: address)
            _ = try bench.answer(control, Question(run.instance, .srv), toGroup: false)
            try bench.quiet()
            let said = try bench.ask([Question(run.instance, .srv)], from: .far, to: address)
            let answer = try bench.wait(0.8, since: said.mark, for: \.isResponse)
            try bench.expect(
                answer == nil, answer?.isToGroup == true ? "answered to the group" : "answered to 10.99.0.9")
        },
        Rule(
            66, .must, "6.7", "A question from another port is answered by unicast there, with its id and question",
            "Plain resolvers, as in nslookup or in small devices, get no answer"
        ) { bench in
            let run = try bench.usual()
            let question = Question(run.instance, .srv)
            let said = try bench.ask([question], id: 0xABCD, port: 40_000)
            let answer = try bench.answer(said, question, toGroup: false)
            try bench.expect(answer != nil, "no answer by unicast")
            try bench.expect(answer?.destination.port == 40_000, "to port \(answer?.destination.port ?? 0)")
            try bench.expect(answer?.message?.id == 0xABCD, "with another id")
            try bench.expect(answer?.questions.map(\.name) == [run.instance], "without the question")
        },
        Rule(
            67, .must, "6.7", "There the TTL is 10 s at most, and no cache-flush bit is set",
            "Plain resolvers keep what is outdated, and misread the class"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv)], id: 7, port: 40_001)
            let answer = try bench.answer(said, Question(run.instance, .srv), toGroup: false)
            try bench.expect(answer != nil, "no answer by unicast")
            for record in answer?.records ?? [] {
                try bench.expect(record.ttl <= 10, "TTL \(record.ttl)")
                try bench.expect(!record.flushesCache, "the cache-flush bit on \(record.type)")
            }
        },
        Rule(
            68, .must, "18.14", "There the target of a SRV record is not compressed",
            "Plain resolvers cannot read it"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv)], id: 8, port: 40_002)
            let answer = try bench.answer(said, Question(run.instance, .srv), toGroup: false)
            guard let answer, let target = answer.answers.first(where: { $0.type == .srv })?.target else {
                throw Bench.Deviation(seen: "no answer by unicast")
            }
            let whole = Frames.word(6 + target.wire.count)
            let lengths = answer.bytes.indices.dropLast(10).filter { place in
                answer.bytes[place..<place + 2].elementsEqual([0, 33])
                    && answer.bytes[place + 8..<place + 10].elementsEqual(whole)
            }
            try bench.expect(!lengths.isEmpty, "the target is compressed")
        },
    ]
}
