import DNSMessage
import DNSSD

// RFC 6762 §5 to §7, §10, §18: what those who look for services take from others' packets, and what they say a second time.
extension Rule {
    /// A service that is never said in a response.
    private static let foreign = Bench.records("anna", port: 9101, of: .two)

    static let knowing: [Rule] = [
        Rule(
            138, .must, "7.1", "What another host lists as known is not believed",
            "What is long gone comes back as long as somebody else remembers it"
        ) { bench in
            try bench.search()
            let at = bench.now
            for family in IPAddress.Family.allCases {
                try bench.ask([Bench.question], known: foreign, from: .two, over: family)
            }
            try bench.expectDisbelief(of: "anna", since: at)
        },
        Rule(
            139, .experience, "8.2", "What a probe proposes is not believed",
            "Services are listed under names that they do not get"
        ) { bench in
            try bench.search()
            let at = bench.now
            let question = Question(Names.instance("anna"), .any)
            for family in IPAddress.Family.allCases {
                try bench.send(Message(questions: [question], authorities: foreign), from: .two, over: family)
            }
            try bench.expectDisbelief(of: "anna", since: at)
        },
        Rule(
            140, .must, "18.5", "TC in a response does not matter", "Services of hosts with long lists are not found"
        ) { bench in
            try bench.search()
            let at = bench.now
            try bench.send(Message(flags: [.response, .authoritative, .truncated], answers: Bench.records()))
            try bench.expect(try bench.shown(after: at, within: 4) != nil, "not found")
        },
        Rule(
            141, .should, "RFC 6763 12", "Additional records are used", "Each service costs further questions"
        ) { bench in
            try bench.need(.follow)
            try bench.search()
            let (at, mark, all) = (bench.now, bench.mark, Bench.records())
            try bench.send(
                Message(flags: [.response, .authoritative], answers: [all[0]], additionals: Array(all.dropFirst())))
            try bench.expect(try bench.shown(port: 9100, after: at, within: 4) != nil, "not resolved")
            let asked = bench.said(since: mark).flatMap(\.questions).first { $0.type == .srv || $0.type == .txt }
            try bench.expect(asked == nil, "asked for \(asked?.type.description ?? "")")
        },
        Rule(
            142, .experience, "RFC 6763 12", "Where SRV came without addresses, it asks for them",
            "The service is listed, and cannot be reached"
        ) { bench in
            try bench.search()
            let said = try bench.offer(Array(Bench.records().prefix(3)))
            let asked = try bench.wait(5, since: said.mark) {
                $0.isQuery
                    && $0.questions.contains {
                        $0.name == Names.name("played-\(Station.one.hardware[5]).local")
                            && [.a, .aaaa, .any].contains($0.type)
                    }
            }
            try bench.expect(asked != nil, "no question for the host within 5 s")
        },
        Rule(
            143, .must, "10.1", "A goodbye ends what it names, and nothing else",
            "One program's end takes all services of the type"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.found(foreign, "anna")
            try bench.pass(1.5)
            let gone = foreign.prefix(3).map { record in
                var record = record
                record.ttl = 0
                return record
            }
            let said = try bench.offer(gone, from: .two)
            try bench.expect(
                try bench.shown("anna", isThere: false, after: said.at, within: 7) != nil, "it is there after 7 s")
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 1) == nil, "the other one is gone, too")
        },
        Rule(
            144, .must, "10.1", "A goodbye for what it does not know shows nothing", "Services appear when they end"
        ) { bench in
            try bench.search()
            let said = try bench.offer(Bench.records(ttl: 0))
            try bench.expect(try bench.shown(after: said.at, within: 2.5) == nil, "it was shown as there")
        },
        Rule(
            145, .experience, "RFC 2181 8", "A TTL above 2³¹ counts as 0", "Services of broken devices stay for ever"
        ) { bench in
            try bench.search()
            let said = try bench.offer(
                Bench.records(ttl: 0x8000_0001).map { record in
                    var record = record
                    record.ttl = 0x8000_0001
                    return record
                })
            guard try bench.shown(after: said.at, within: 2.5) != nil else { return }
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 5) != nil, "it is there after 7 s")
        },
        Rule(
            146, .should, "10.5", "Questions of others that nobody answers: what they ask for ends",
            "What was unplugged is listed for an hour"
        ) { bench in
            try bench.search()
            let said = try bench.found()
            try bench.pass(4)
            for _ in 0..<4 {
                try bench.pass(1.5)
                for family in IPAddress.Family.allCases {
                    try bench.ask([Bench.question, Question(Names.instance("tony"), .any)], from: .two, over: family)
                }
            }
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 20) != nil,
                "it is there 20 s after the last of them")
        },
    ]

    static let repeating: [Rule] = [
        Rule(
            147, .should, "5.2", "Before a record ends, it asks for it more than once",
            "One lost packet, and a service vanishes"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 40))
            try bench.pass(40.5)
            let asked = bench.questions(since: said.mark).filter { 31...40.4 ~= $0.at - said.at }.count
            try bench.expect(asked > 1, "\(asked) questions in the last fifth of 40 s")
        },
        Rule(
            148, .must, "5.4, 18.12", "Questions have the class IN, with no bit but the one for unicast answers",
            "Responders do not answer"
        ) { bench in
            try bench.search()
            try bench.found([Bench.records()[0]])
            try bench.pass(5)
            let questions = bench.said().filter(\.isQuery).flatMap(\.questions)
            try bench.expect(
                questions.allSatisfy { $0.recordClass == .internet || $0.recordClass == .any },
                "class \(questions.first { $0.recordClass != .internet }?.recordClass.rawValue ?? 0)")
        },
        Rule(
            149, .should, "5.4", "Only the first question asks for unicast answers",
            "Other hosts learn nothing of the answers, and ask the same"
        ) { bench in
            try bench.search()
            try bench.pass(8)
            let later = bench.questions().dropFirst()
            try bench.expect(
                !later.contains {
                    $0.at - (bench.questions().first?.at ?? 0) > 0.9
                        && $0.questions.contains(where: \.wantsUnicastResponse)
                }, "a later one does")
        },
        Rule(
            150, .must, "7.2", "Packets that go on with known answers ask nothing",
            "A list is answered before all that is known was said"
        ) { bench in
            try bench.search()
            let packets = try bench.manyKnown()
            let asking = packets.dropFirst().filter { !$0.questions.isEmpty }.count
            try bench.expect(asking == 0, "questions in \(asking) of \(packets.count - 1) packets that follow")
        },
        Rule(
            151, .experience, "7.1", "What is listed as known answers what is asked",
            "Packets are larger than they need be"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.pass(12)
            for packet in bench.said() where packet.isQuery && packet.source.port == Group.port {
                guard !packet.questions.isEmpty else { continue }
                let strange = packet.answers.first { answer in
                    !packet.questions.contains { $0.name == answer.name && ($0.type == .any || $0.type == answer.type) }
                }
                try bench.expect(
                    strange == nil, "\(strange?.name.description ?? "") \(strange?.type.description ?? "")")
            }
        },
        Rule(
            152, .experience, "7.1", "What is listed as known has the time that is left to it",
            "Responders do not say again what is about to end"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 40))
            let next = try bench.wait(12, since: said.mark) {
                Bench.isQuestion($0) && $0.at > said.at + 2.5 && !$0.answers.isEmpty
            }
            guard let next else { throw Bench.Unjudged(reason: "it lists nothing within 12 s") }
            let left = 40 - (next.at - said.at)
            for answer in next.answers where answer.name == Names.type {
                try bench.expect(
                    Double(answer.ttl) <= left + 1.1, "\(answer.ttl) s of \(Int(left)) s")
            }
        },
    ]
}

extension Bench {
    /// Tells of so much that it does not fit into a packet, and returns those of its next question.
    func manyKnown() throws -> [Packet] {
        let all = (1...150).map { Bench.records("service number \($0) of many", port: 9100)[0] }
        for part in stride(from: 0, to: 150, by: 15) {
            try offer(Array(all[part..<part + 15]) + Bench.records().dropFirst(3))
            try pass(0.02)
        }
        try pass(14)
        guard let last = questions().last(where: { !$0.answers.isEmpty }) else {
            throw Bench.Deviation(seen: "nothing is listed")
        }
        return said(over: .ipv4).filter {
            $0.isQuery && $0.source.port == Group.port && $0.at >= last.at && !$0.answers.isEmpty
        }
    }
}
