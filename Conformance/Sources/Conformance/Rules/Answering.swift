import DNSMessage
import DNSSD

// RFC 6762 §6: what is answered, when, and with what.
extension Rule {
    static let answering: [Rule] = [
        Rule(
            39, .should, "6", "A list is answered after a random 20 to 120 ms",
            "On a large network all answer at the same moment, and packets are lost"
        ) { bench in
            let run = try bench.usual()
            var delays: [Double] = []
            for round in 0..<6 {
                try bench.pass(1.05 + 0.013 * Double(round))
                let said = try bench.ask([run.list])
                guard let answer = try bench.answer(said, run.list) else { throw Bench.Deviation(seen: "no answer") }
                delays.append(answer.at - said.at)
            }
            let (least, most) = (delays.min() ?? 0, delays.max() ?? 0)
            try bench.expect(
                least >= 0.018 && most <= 0.16,
                "answers after \(bench.milliseconds(least)) to \(bench.milliseconds(most))")
            let sorted = delays.sorted()
            let steps = zip(sorted.dropFirst(), sorted).count { $0 - $1 > 0.003 }
            try bench.expect(steps >= 3, "the same delays again and again, near \(bench.milliseconds(sorted[3]))")
        },
        Rule(
            40, .should, "6", "One question for a unique name is answered at once",
            "Every connection begins a tenth of a second later"
        ) { bench in
            let run = try bench.usual()
            var best = 1.0
            for _ in 0..<3 {
                try bench.pass(1.1)
                let said = try bench.ask([Question(run.instance, .srv)])
                guard let answer = try bench.answer(said, Question(run.instance, .srv)) else {
                    throw Bench.Deviation(seen: "no answer")
                }
                best = min(best, answer.at - said.at)
            }
            try bench.expect(best < 0.018, "\(bench.milliseconds(best)) at best of three")
        },
        Rule(
            41, .must, "6.3, 6.4", "All questions of a packet are answered, in one packet",
            "A client that asks for several things at once waits for some in vain"
        ) { bench in
            let run = try bench.usual()
            let questions = [
                Question(run.instance, .srv), Question(run.instance, .txt), Question(run.host, .a), run.list,
            ]
            let said = try bench.ask(questions)
            try bench.pass(0.7)
            let answers = bench.responses(since: said.mark, over: .ipv4).filter(\.isToGroup)
            for question in questions {
                try bench.expect(
                    answers.flatMap(\.records).contains { $0.name == question.name && $0.type == question.type },
                    "\(question.type) of \(question.name) was not answered")
            }
            try bench.expect(answers.count == 1, "\(answers.count) packets")
        },
        Rule(
            42, .should, "6.3", "Several questions in a packet are answered after 20 to 120 ms",
            "Answers of several hosts collide"
        ) { bench in
            let run = try bench.usual()
            for _ in 0..<3 {
                try bench.pass(1.1)
                let said = try bench.ask([Question(run.instance, .srv), Question(run.instance, .txt)])
                let answer = try bench.answer(said, Question(run.instance, .srv))
                let delay = (answer?.at ?? said.at + 9) - said.at
                try bench.expect(0.018...0.16 ~= delay, "answered after \(bench.milliseconds(delay))")
            }
        },
        Rule(
            43, .should, "6.4", "Questions one after the other are answered in one packet",
            "Airtime is used for packets in place of data"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list])
            try bench.ask([Question(Names.types, .ptr)], from: .two)
            try bench.ask([run.list], from: .three)
            try bench.pass(0.7)
            let answers = bench.responses(since: said.mark, over: .ipv4).filter(\.isToGroup)
            let records = answers.flatMap(\.answers)
            try bench.expect(
                [Names.type, Names.types].allSatisfy { name in records.contains { $0.name == name } },
                "not all are answered")
            try bench.expect(answers.count <= 1, "\(answers.count) packets")
        },
        Rule(
            44, .must, "6.5", "Type ANY and class ANY bring all records of the name",
            "Tools that ask for everything see half of it"
        ) { bench in
            let run = try bench.usual()
            for recordClass in [RecordClass.internet, .any] {
                let said = try bench.ask([Question(run.instance, .any, recordClass: recordClass)])
                let answer = try bench.answer(said, Question(run.instance, .any))
                let types = Set(answer?.records.filter { $0.name == run.instance }.map(\.type) ?? [])
                try bench.expect(
                    types.isSuperset(of: [.srv, .txt]),
                    "class \(recordClass.rawValue): \(types.map(\.description).sorted())")
                try bench.quiet()
            }
        },
        Rule(
            45, .must, "16", "Names are compared without case, and answered in their own spelling",
            "Clients that write another case do not find it, or show it in capitals"
        ) { bench in
            let run = try bench.usual()
            let upper = Names.name("_CONF._TCP.LOCAL")
            let said = try bench.ask([Question(upper, .ptr)])
            let answer = try bench.answer(said) { $0.isLike(run.pointer) }
            try bench.expect(answer != nil, "no answer to a name in capitals")
            let spelled = answer?.answers.first { $0.isLike(run.pointer) }
            try bench.expect(spelled?.pointer?.wire == run.instance.wire, "the instance has another spelling")
        },
        Rule(
            46, .must, "18", "The id and flags of a question do not matter",
            "Clients that set one are not answered"
        ) { bench in
            let run = try bench.usual()
            let flags = Message.Flags(rawValue: 0x0400 | 0x0100 | 0x0080 | 0x0070)
            let said = try bench.ask([run.list], flags: flags, id: 0x1234)
            try bench.expect(try bench.answer(said, run.list) != nil, "not answered")
        },
        Rule(
            47, .must, "6, 18.3, 18.11", "Silence for other opcodes, response codes, classes and the names of others",
            "What is no question of multicast DNS is answered, or what belongs to others"
        ) { bench in
            let run = try bench.usual()
            let own: (ResourceRecord) -> Bool = {
                $0.name == run.instance || $0.name == Names.type || $0.name == run.host
            }
            var said = try bench.ask([run.list], flags: Message.Flags(rawValue: 1 << 11))
            try bench.silence(said, "opcode 1", own)
            said = try bench.ask([run.list], flags: Message.Flags(rawValue: 3))
            try bench.silence(said, "response code 3", own)
            said = try bench.ask([Question(run.instance, .srv, recordClass: RecordClass(rawValue: 3))])
            try bench.silence(said, "class CH", own)
            said = try bench.ask([Question(Names.other, .any)])
            try bench.silence(said, "another's name") { $0.name == Names.other }
        },
        Rule(
            48, .must, "18.14", "Compressed names in questions and known answers are read",
            "Questions of most programs are not understood"
        ) { bench in
            let run = try bench.usual()
            // The second question's name is a label and a pointer.
            let said = try bench.ask([Question(run.instance, .txt), Question(run.instance, .srv), run.list])
            try bench.pass(0.5)
            let types = bench.responses(since: said.mark, over: .ipv4).flatMap(\.answers).filter {
                $0.name == run.instance
            }.map(\.type)
            try bench.expect(Set(types).isSuperset(of: [.srv, .txt]), "a name behind a pointer was not answered")
            try bench.quiet()
            let known = try bench.ask([run.list], known: [run.pointer])
            try bench.silence(known, "a known answer with pointers") { $0.isLike(run.pointer) }
        },
        Rule(
            49, .should, "RFC 6763 12.1", "A list comes with SRV, TXT and addresses",
            "To show a service takes three questions more"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list])
            let types = Set(try bench.answer(said, run.list)?.records.map(\.type) ?? [])
            try bench.expect(
                types.isSuperset(of: [.srv, .txt, .a]),
                "along with it: \(types.map(\.description).sorted().joined(separator: ", "))")
        },
        Rule(
            50, .should, "6.2, RFC 6763 12.2", "SRV comes with addresses, A with AAAA and AAAA with A",
            "To connect takes a question more"
        ) { bench in
            let run = try bench.usual()
            for (name, type, with) in [
                (run.instance, RecordType.srv, [RecordType.a]), (run.host, .a, [.aaaa]), (run.host, .aaaa, [.a]),
            ] {
                try bench.pass(1.1)
                let said = try bench.ask([Question(name, type)])
                let types = Set(
                    try bench.answer(said, Question(name, type))?.records.filter { $0.name == run.host }.map(\.type)
                        ?? [])
                try bench.expect(types.isSuperset(of: with), "\(type) without \(with[0])")
            }
        },
        Rule(
            51, .must, "6.1", "A type that one of its names has not is denied with NSEC",
            "Clients wait seconds for an address of the other family"
        ) { bench in
            let run = try bench.usual()
            for name in [run.instance, run.host] {
                let said = try bench.ask([Question(name, .hinfo)])
                let answer = try bench.wait(0.8, since: said.mark) {
                    $0.isResponse && $0.records.contains { $0.name == name && $0.type == .nsec }
                }
                try bench.expect(answer != nil, "no NSEC for HINFO of \(name)")
                try bench.quiet()
            }
        },
        Rule(
            52, .must, "6.1", "NSEC: the true types, its own name, no other blocks, no bit of NSEC itself",
            "Others believe that there is no address, or ignore the denial"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .hinfo)])
            let answer = try bench.wait(0.8, since: said.mark) {
                $0.isResponse && $0.records.contains { $0.name == run.instance && $0.type == .nsec }
            }
            let records = answer?.records.filter { $0.name == run.instance && $0.type == .nsec } ?? []
            guard case .nsec(let next, let types)? = records.first?.data else {
                throw Bench.Deviation(seen: "no NSEC record")
            }
            try bench.expect(next == run.instance, "the next name is \(next)")
            try bench.expect(
                Set(types.types) == [.srv, .txt], "types \(types.types.map(\.description).joined(separator: ", "))")
        },
        Rule(
            53, .must, "6, 6.1", "Nothing denies what shared names and those of others have not",
            "The services of others are denied"
        ) { bench in
            let run = try bench.usual()
            for question in [
                Question(Names.type, .txt), Question(Names.other, .a), Question(Names.instance("nobody"), .srv),
            ] {
                let said = try bench.ask([question])
                try bench.silence(said, "\(question.type) of \(question.name)") { $0.name == question.name }
            }
            _ = run
        },
        Rule(
            54, .experience, "4", "The host's addresses lead back to its name",
            "Logs and tools show addresses in place of names"
        ) { bench in
            let run = try bench.usual()
            guard case .v4(let address)? = run.address(.ipv4) else { throw Bench.Deviation(seen: "no IPv4 address") }
            let bytes = (0..<4).map { "\(address.bits >> (8 * UInt32($0)) & 255)" }
            let name = Names.name((bytes + ["in-addr.arpa"]).joined(separator: "."))
            let said = try bench.ask([Question(name, .ptr)])
            try bench.expect(
                try bench.answer(said) { $0.name == name && $0.pointer == run.host } != nil, "no answer for \(name)")
        },
        Rule(
            55, .must, "RFC 6763 9", "Types are listed, subtypes are not",
            "Browsers of everything do not show it"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(Names.types, .ptr)])
            try bench.pass(0.7)
            let listed = bench.responses(since: said.mark).flatMap(\.answers).filter { $0.name == Names.types }
                .compactMap(\.pointer)
            try bench.expect(listed.contains(Names.type), "its type is not listed")
            try bench.expect(
                !listed.contains { $0.labels.contains { $0.elementsEqual("_sub".utf8) } }, "a subtype is listed")
            _ = run
        },
        Rule(
            56, .must, "RFC 6763 7.1", "A subtype leads to the full instance",
            "Clients that look for a subtype do not find it"
        ) { bench in
            try bench.need(.subtypes)
            let run = try bench.usual()
            let name = Names.name("_sub1._sub._conf._tcp.local")
            let said = try bench.ask([Question(name, .ptr)])
            try bench.expect(
                try bench.answer(said) { $0.name == name && $0.pointer == run.instance } != nil, "not answered")
        },
        Rule(
            57, .must, "6.2, 14", "The link's addresses, all of them, and never the loopback's",
            "Clients try addresses that lead nowhere"
        ) { bench in
            let run = try bench.usual()
            var found: [IPAddress] = []
            for type in [RecordType.a, .aaaa] {
                let said = try bench.ask([Question(run.host, type)])
                try bench.pass(0.7)
                found += bench.responses(since: said.mark).flatMap(\.records).filter {
                    $0.name == run.host && $0.type == type
                }.compactMap { IPAddress($0.data) }
                try bench.quiet()
            }
            try bench.expect(!found.contains(where: \.isLoopback), "the loopback's address")
            try bench.expect(Set(found.map(\.family)).count == 2, "addresses of one family alone")
            let sources = Set(bench.said().filter(\.isResponse).map(\.source.address))
            try bench.expect(sources.isSubset(of: found), "it speaks from an address that it does not tell")
        },
        Rule(
            58, .must, "6", "No record goes to the group twice within a second",
            "Who asks often has all devices speak often"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv)])
            for station in [Station.two, .three, .one, .two] {
                try bench.pass(0.2)
                try bench.ask([Question(run.instance, .srv)], from: station)
            }
            try bench.pass(1.6)
            let times = bench.responses(since: said.mark, over: .ipv4).filter { packet in
                packet.isToGroup && packet.answers.contains { $0.name == run.instance && $0.type == .srv }
            }.map(\.at)
            try bench.expect(!times.isEmpty, "no answer")
            for (one, next) in zip(times, times.dropFirst()) {
                try bench.expect(next - one >= 0.98, "twice within \(bench.milliseconds(next - one))")
            }
        },
        Rule(
            59, .must, "6, 8.1", "A probe for its name is answered within 250 ms, in spite of that",
            "A newcomer takes its name while it is silent"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([Question(run.instance, .srv)])
            try bench.expect(try bench.answer(said, Question(run.instance, .srv)) != nil, "no answer to a question")
            try bench.pass(0.4)
            let probe = Said(mark: bench.mark, at: bench.now)
            try bench.send(
                Message(questions: [Question(run.instance, .any)], authorities: [bench.rival(run.instance)]), from: .two
            )
            let defence = try bench.answer(probe, Question(run.instance, .srv))
            try bench.expect(
                defence != nil && (defence?.at ?? 0) - probe.at <= 0.26,
                defence.map { "after \(bench.milliseconds($0.at - probe.at))" } ?? "not defended")
        },
    ]
}
