import DNSMessage
import DNSSD

// RFC 6762 §7: what is not said again.
extension Rule {
    static let knownAnswers: [Rule] = [
        Rule(
            69, .must, "7.1", "What the asker knows for half its TTL and more is not told again",
            "Each look at a long list has all answer in full"
        ) { bench in
            let run = try bench.usual()
            for ttl: UInt32 in [4500, 2400] {
                var known = run.pointer
                known.ttl = ttl
                let said = try bench.ask([run.list], known: [known])
                try bench.silence(said, "known for \(ttl) s") { $0.isLike(run.pointer) }
            }
        },
        Rule(
            70, .must, "7.1", "What it knows for less is told",
            "Records end in caches though their service is there"
        ) { bench in
            let run = try bench.usual()
            var known = run.pointer
            known.ttl = 2000
            let said = try bench.ask([run.list], known: [known])
            try bench.expect(try bench.answer(said, run.list) != nil, "known for 2000 of 4500 s: not answered")
        },
        Rule(
            71, .must, "7.1", "A known answer takes away itself alone",
            "One known service hides the others"
        ) { bench in
            let run = try bench.usual()
            let other = ResourceRecord(Names.type, .ptr, .ptr(Names.instance("another")), ttl: 4500)
            let said = try bench.ask([run.list], known: [other])
            try bench.expect(try bench.answer(said, run.list) != nil, "another known service hides it")
            try bench.quiet()
            let old = ResourceRecord(run.instance, .txt, .txt([3, 0x61, 0x3D, 0x62]), ttl: 4500)
            let text = try bench.ask([Question(run.instance, .txt)], known: [old])
            try bench.expect(try bench.answer(text, Question(run.instance, .txt)) != nil, "other known data hides it")
        },
        Rule(
            72, .should, "7.2", "Where the asker knows more (TC), the answer waits for 400 to 500 ms",
            "Long lists of known answers are in vain"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list], flags: .truncated)
            let answer = try bench.answer(said, run.list, within: 1.2)
            let delay = (answer?.at ?? said.at + 9) - said.at
            try bench.expect(
                0.39...0.65 ~= delay, answer == nil ? "no answer" : "answered after \(bench.milliseconds(delay))")
        },
        Rule(
            73, .must, "7.2", "Known answers of the packets that follow count, of the same host alone",
            "Long lists of known answers are in vain, or hide services from others"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list], flags: .truncated)
            try bench.pass(0.1)
            try bench.ask([], known: [run.pointer])
            try bench.silence(said, for: 1.0, "known by the packet that follows") { $0.isLike(run.pointer) }
            let again = try bench.ask([run.list], flags: .truncated)
            try bench.pass(0.1)
            try bench.ask([], known: [run.pointer], from: .two)
            try bench.expect(
                try bench.answer(again, run.list, within: 1.2) != nil, "another host's known answers count")
        },
        Rule(
            74, .should, "7.4", "What another host answers meanwhile is not said again",
            "Where several know a record, each question is answered by all of them"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list])
            let told = try bench.tell([run.pointer], from: .two)
            _ = told
            let heard = try bench.answer(said, run.list)
            try bench.expect(
                heard == nil, "said again \(bench.milliseconds((heard?.at ?? 0) - said.at)) after the question")
        },
    ]
}
