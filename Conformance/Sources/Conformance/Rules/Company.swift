import DNSMessage
import DNSSD

// RFC 6762 §15 and §17, and what goes wrong on real networks: other programs of the host, odd packets, crowds.
extension Rule {
    static let company: [Rule] = [
        Rule(
            1, .should, "15.1", "It shares port 5353 with a program that was there first",
            "It does not start where a browser or a media player runs"
        ) { bench in
            try bench.need(.company)
            _ = try bench.usual()
            try bench.stop()
            bench.spoil()
            try bench.subject.change(.squatter(isThere: true))
            defer { try? bench.subject.change(.squatter(isThere: false)) }
            try bench.start()
            let run = try bench.settle()
            try bench.quiet()
            let said = try bench.ask([run.list])
            try bench.expect(try bench.answer(said, run.list) != nil, "not answered")
        },
        Rule(
            2, .experience, "15", "Programs of its own host hear it, and are answered",
            "What runs on the same machine does not find it"
        ) { bench in
            try bench.need(.company)
            let run = try bench.usual()
            let question = Message(questions: [run.list])
            let mark = bench.mark
            try bench.subject.change(.ask(try question.written(compression: .multicast)))
            // Their question is on the link, too; what the driver hears on its own host it says itself.
            let answer = try bench.wait(1, since: mark) {
                $0.isResponse && $0.answers.contains { $0.isLike(run.pointer) }
            }
            try bench.expect(answer != nil, "a question of its own host is not answered")
        },
        Rule(
            90, .experience, "18", "Malformed packets are ignored, and it lives",
            "One broken device ends the services of all others"
        ) { bench in
            let run = try bench.usual()
            let good = try Message(questions: [run.list]).written(compression: .multicast)
            var odd: [[UInt8]] = [
                [], [0], Array(good.prefix(11)), Array(good.prefix(14)), good + [0xC0],
                [UInt8](repeating: 0xFF, count: 600),
            ]
            odd.append([0, 0, 0x84, 0] + [UInt8](repeating: 0xFF, count: 8))
            odd.append([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xC0, 12, 0, 255, 0, 1])
            odd.append([0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 9, 0, 2, 0xC0, 12])
            odd.append([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 64, 65, 0, 0, 1, 0, 1])
            for bytes in odd {
                try bench.send(bytes)
                try bench.send(bytes, over: .ipv6)
            }
            try bench.quiet()
            let said = try bench.ask([run.list])
            try bench.expect(try bench.answer(said, run.list) != nil, "it does not answer any more")
        },
        Rule(
            91, .must, "17", "A question with 8 KB of known answers, in fragments, is read",
            "On a large network it answers what all know already"
        ) { bench in
            let run = try bench.usual()
            let others = (1...180).map { n in
                ResourceRecord(
                    Names.type, .ptr, .ptr(Names.instance("service number \(1000 + n) of many others")), ttl: 4500)
            }
            let said = try bench.ask([run.list], known: others + [run.pointer])
            try bench.silence(said, "the last known answer was not read") { $0.isLike(run.pointer) }
            let alone = try bench.ask([run.list], known: others)
            try bench.expect(try bench.answer(alone, run.list) != nil, "such a question is not answered")
        },
        Rule(
            92, .must, "16", "Names with dots, capitals, UTF-8, 63 bytes, an end in (2)",
            "Names of people's devices cannot be published, or are changed"
        ) { bench in
            let names = ["A.b Capital.", "Zoë's — büro", String(repeating: "n", count: 63), "tony (2)"]
            for name in names {
                do { try bench.start([Service(name)]) } catch let error as Bench.Deviation {
                    throw Bench.Deviation(seen: "\(name): \(error.seen)")
                }
                let run = try bench.settle()
                try bench.expect(run.instance.wire == Names.instance(name).wire, "'\(name)' became \(run.instance)")
            }
        },
        Rule(
            93, .experience, "8.1", "A hundred services: all there within 4 s, and probed for in few packets",
            "A machine with many services floods the link, or is slow to appear"
        ) { bench in
            try bench.need(.many)
            try bench.start((1...100).map { Service("s\($0)", port: 9000 + UInt16($0)) })
            let began = bench.now
            var seen: Set<UInt16> = []
            let last = try bench.wait(15, since: 0) { packet in
                if packet.isResponse { seen.formUnion(packet.records.compactMap(\.port)) }
                return seen.count == 100
            }
            try bench.expect(last != nil, "\(seen.count) of 100 within 15 s")
            try bench.expect((last?.at ?? 0) - began < 4.5, "after \(bench.milliseconds((last?.at ?? 0) - began))")
            let probes = bench.said(over: .ipv4).filter { $0.isProbe }.count
            try bench.expect(probes <= 150, "\(probes) packets of probes over IPv4")
        },
        Rule(
            94, .must, "6", "A hundred services: one question brings all",
            "Lists of large machines are incomplete"
        ) { bench in
            try bench.need(.many)
            try bench.start((1...100).map { Service("s\($0)", port: 9000 + UInt16($0)) })
            _ = try bench.settle(within: 20)
            try bench.quiet()
            let said = try bench.ask([Question(Names.type, .ptr)])
            try bench.pass(2.5)
            let found = Set(
                bench.responses(since: said.mark, over: .ipv4).flatMap(\.answers).filter { $0.name == Names.type }
                    .compactMap(\.pointer))
            try bench.expect(found.count == 100, "\(found.count) of 100")
        },
        Rule(
            95, .experience, "6",
            "A flood of questions is answered once a second, and one host with 24 KB a second at most",
            "It can be used to flood the link and other hosts"
        ) { bench in
            let run = try bench.usual()
            let mark = bench.mark
            let began = bench.now
            while bench.now - began < 2 {
                for station in [Station.one, .two, .three] {
                    try bench.ask([Question(run.instance, .srv)], from: station)
                }
                try bench.pass(0.01)
            }
            try bench.pass(1.2)
            let count = bench.responses(since: mark, over: .ipv4).filter(\.isToGroup).count
            try bench.expect(1...4 ~= count, "\(count) packets to the group for 2 s of questions")
            let (start, then) = (bench.mark, bench.now)
            let alone = Message(questions: [Question(run.instance, .srv, wantsUnicastResponse: true)])
            for _ in 0..<10 {
                for _ in 0..<50 { try bench.send(alone) }
                try bench.pass(0.05)
            }
            try bench.pass(max(0, then + 1 - bench.now))
            let bytes = bench.responses(since: start).filter { !$0.isToGroup }.reduce(0) { $0 + $1.bytes.count }
            try bench.expect(bytes <= 24_000, "\(bytes) bytes for one host within a second")
        },
        Rule(
            96, .experience, "-", "It needs no bus and no other daemon",
            "It cannot be used in containers and small images"
        ) { bench in
            try bench.need(.bare)
            let run = try bench.usual()
            try bench.expect(run.instances[9000] != nil, "not announced")
        },
        Rule(
            97, .experience, "15", "Two processes of one host: one host name, and both are answered",
            "The second program renames the machine"
        ) { bench in
            try bench.need(.processes)
            try bench.start([Service(), Service("anna", port: 9001, process: 2)])
            let run = try bench.settle()
            try bench.quiet()
            let targets = Set(bench.responses().flatMap(\.records).compactMap(\.target))
            try bench.expect(targets.count == 1, "\(targets.count) host names")
            let said = try bench.ask([run.list])
            try bench.pass(0.7)
            let found = Set(bench.responses(since: said.mark).flatMap(\.answers).compactMap(\.pointer))
            try bench.expect(found.count == 2, "\(found.count) of 2 are answered")
        },
        Rule(
            98, .experience, "8, 15", "Two processes, one service name: two names",
            "One of two programs is not found"
        ) { bench in
            try bench.need(.processes)
            try bench.start([Service(), Service(port: 9001, process: 2)])
            let run = try bench.settle()
            try bench.pass(3)
            try bench.expect(Set(run.instances.values).count == 2, "both have the name \(run.instance)")
        },
        Rule(
            99, .experience, "10.1, 15", "The first process ends, or is killed: the other goes on",
            "The end of one program hides another's service"
        ) { bench in
            try bench.need(.processes)
            for signal in [Signal.TERM, .KILL] {
                try bench.start([Service(), Service("anna", port: 9001, process: 2)])
                let run = try bench.settle()
                try bench.quiet()
                let mark = bench.mark
                try bench.subject.end(process: 1, by: signal)
                try bench.pass(2)
                let ended = bench.responses(since: mark).flatMap(\.records).filter { $0.ttl == 0 }
                let other = run.instances[9001] ?? .root
                try bench.expect(
                    !ended.contains { $0.name == other || $0.pointer == other }, "a goodbye for the other's service")
                if let end = ended.last(where: { $0.name == run.host && $0.type == .a }) {
                    let isBack =
                        bench.responses(since: mark).flatMap(\.records).last { $0.name == end.name && $0.type == .a }?
                        .ttl ?? 0 > 0
                    try bench.expect(isBack, "a goodbye for the host's address, which nobody takes back")
                }
                let said = try bench.ask([Question(other, .srv), Question(run.host, .a)])
                try bench.pass(0.7)
                let answers = bench.responses(since: said.mark).flatMap(\.records)
                try bench.expect(
                    answers.contains { $0.name == other && $0.type == .srv },
                    "the other's service is not answered after SIG\(signal.rawValue)")
                try bench.expect(
                    answers.contains { $0.name == run.host && $0.type == .a },
                    "the host is not answered after SIG\(signal.rawValue)")
            }
        },
        Rule(
            100, .experience, "5.5, 15.1", "Two processes of one host: both answer what is asked of the host itself",
            "A direct question finds one of two programs"
        ) { bench in
            try bench.need(.processes)
            try bench.start([Service(), Service("anna", port: 9001, process: 2)])
            let run = try bench.settle()
            guard let address = run.address(.ipv4) else { throw Bench.Deviation(seen: "no IPv4 address") }
            for port: UInt16 in [9000, 9001] {
                try bench.quiet()
                let said = try bench.ask([Question(run.instances[port] ?? .root, .srv)], to: address)
                let answer = try bench.wait(0.8, since: said.mark) {
                    $0.isResponse && $0.records.contains { $0.port == port }
                }
                try bench.expect(answer != nil, "the service on port \(port) is not answered")
            }
        },
        Rule(
            5, .experience, "15", "An avahi-daemon that starts on its host later keeps its name; both are answered",
            "The system's responder renames itself again and again, and publishes nothing"
        ) { bench in
            try bench.need(.beside)
            let run = try bench.usual()
            bench.spoil()
            defer { try? bench.subject.change(.avahi(isThere: false)) }
            try bench.subject.change(.avahi(isThere: true))
            try bench.pass(6)
            try bench.quiet()
            let other = Names.name("other.local")
            let said = try bench.ask([Question(other, .a)])
            try bench.expect(
                try bench.answer(said, Question(other, .a)) != nil, "avahi-daemon has lost the name 'other'")
            try bench.quiet()
            let own = try bench.ask([run.list])
            try bench.expect(try bench.answer(own) { $0.isLike(run.pointer) } != nil, "its own service is not answered")
        },
    ]
}
