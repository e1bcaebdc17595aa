import DNSMessage
import DNSSD

// RFC 6762 §8.3, §8.4, §10: what is told unasked.
extension Rule {
    static let announcing: [Rule] = [
        Rule(
            32, .must, "8.3",
            "Announced at least twice, a second apart, then at doubled intervals, eight times at most",
            "One lost packet hides it from those who look already"
        ) { bench in
            let run = try bench.recording()
            let times = run.announcements().map(\.at)
            try bench.expect(times.count >= 2, "announced \(times.count) times")
            try bench.expect(times.count <= 8, "announced \(times.count) times in 9 s")
            let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
            try bench.expect(0.9...1.6 ~= gaps[0], "the second one \(bench.milliseconds(gaps[0])) after the first")
            for (gap, next) in zip(gaps, gaps.dropFirst()) {
                try bench.expect(
                    next >= gap * 1.8, "intervals of \(bench.milliseconds(gap)), then \(bench.milliseconds(next))")
            }
        },
        Rule(
            33, .must, "8.3", "Announcements have all records, among the answers",
            "Receivers that take answers alone do not learn where it is"
        ) { bench in
            let run = try bench.recording()
            let answers = run.said.filter { $0.isResponse && $0.isToGroup && $0.family == .ipv4 }.flatMap(\.answers)
            for (name, type) in [
                (Names.type, RecordType.ptr), (run.instance, .srv), (run.instance, .txt), (run.host, .a),
            ] {
                try bench.expect(
                    answers.contains { $0.name == name && $0.type == type }, "no \(type) of \(name) among the answers")
            }
        },
        Rule(
            34, .must, "10.2", "The cache-flush bit: on all unique records, on no shared one",
            "Old data stays in caches, or the services of others vanish"
        ) { bench in
            let run = try bench.recording()
            for record in run.said.filter({ $0.isResponse && $0.isToGroup }).flatMap(\.records) {
                let isShared =
                    record.name == Names.type || record.name == Names.types
                    || record.name.labels.contains { $0.elementsEqual("_sub".utf8) }
                if isShared {
                    try bench.expect(!record.flushesCache, "the bit on \(record.type) of \(record.name)")
                } else if record.name == run.instance || record.name == run.host, record.type != .nsec {
                    try bench.expect(record.flushesCache, "no bit on \(record.type) of \(record.name)")
                }
            }
        },
        Rule(
            35, .should, "10", "TTL: 120 s for SRV, A and AAAA, 75 minutes for PTR and TXT",
            "A host that is gone is listed for long, or all ask again too often"
        ) { bench in
            let run = try bench.recording()
            for record in run.said.filter({ $0.isResponse && $0.isToGroup }).flatMap(\.records) where record.ttl > 0 {
                switch record.type {
                case .srv, .a, .aaaa: try bench.expect(record.ttl == 120, "\(record.ttl) s for \(record.type)")
                case .txt: try bench.expect(record.ttl == 4500, "\(record.ttl) s for TXT")
                case .ptr where record.name == Names.type:
                    try bench.expect(record.ttl == 4500, "\(record.ttl) s for PTR")
                default: break
                }
            }
        },
        Rule(
            36, .must, "RFC 6763 6.1", "TXT strings as they were given; none is one zero byte",
            "Programs read other settings than were published"
        ) { bench in
            let run = try bench.recording()
            let wanted = (try? TextStrings.data(of: Service.usualTXT)) ?? []
            let found = run.record(run.instance, .txt)?.text ?? []
            let strings = Set(TextStrings.strings(of: found) ?? [])
            try bench.expect(
                strings == Set(TextStrings.strings(of: wanted) ?? []),
                "strings differ: \(found.count) bytes for \(wanted.count)")
            try bench.start([Service(txt: [])])
            let empty = try bench.settle()
            try bench.expect(
                empty.record(empty.instance, .txt)?.text == [0],
                "an empty TXT record of \(empty.record(empty.instance, .txt)?.text?.count ?? -1) bytes")
        },
        Rule(
            37, .must, "8.4",
            "Another TXT record: announced twice with the flush bit; no probe, no goodbye, no other name",
            "Others keep the old settings, or see the service go and come"
        ) { bench in
            try bench.need(.update)
            let run = try bench.usual()
            bench.spoil()
            let mark = bench.mark
            try bench.subject.update(port: 9000, txt: [Array("path=/new".utf8)])
            try bench.pass(6)
            let told = bench.responses(since: mark, over: .ipv4).filter { packet in
                packet.records.contains {
                    $0.name == run.instance && $0.text == [9] + Array("path=/new".utf8) && $0.flushesCache
                }
            }
            try bench.expect(told.count >= 2, "the new record was told \(told.count) times")
            try bench.expect(!bench.said(since: mark).contains(where: \.isProbe), "it was probed for")
            let ends = bench.responses(since: mark).flatMap(\.records).filter { $0.ttl == 0 && $0.type != .txt }
            try bench.expect(ends.isEmpty, "a goodbye for \(ends.first?.type.description ?? "")")
        },
        Rule(
            38, .must, "8.4", "An address comes or goes: all are announced anew, the lost one is not answered",
            "Clients try an address that is gone for two minutes"
        ) { bench in
            try bench.need(.host)
            let run = try bench.usual()
            bench.spoil()
            let new = RecordData.a(0x0A4D_0037)
            var mark = bench.mark
            defer { try? bench.subject.change(.removeAddress("10.77.0.55/24")) }
            try bench.subject.change(.addAddress("10.77.0.55/24"))
            let told = try bench.wait(8, since: mark) { packet in
                packet.isResponse && packet.answers.contains { $0.name == run.host && $0.data == new }
            }
            try bench.expect(told != nil, "the new address was not announced within 8 s")
            try bench.pass(1)
            let all = bench.responses(since: mark).flatMap(\.records).filter { $0.name == run.host && $0.type == .a }
                .map(\.data)
            let old = run.addresses.compactMap {
                if case .v4(let address) = $0 { RecordData.a(address.bits) } else { nil }
            }
            try bench.expect(old.allSatisfy(all.contains), "the announcement lacks the other addresses")
            try bench.pass(4)
            mark = bench.mark
            try bench.subject.change(.removeAddress("10.77.0.55/24"))
            try bench.pass(4)
            try bench.quiet()
            let said = try bench.ask([Question(run.host, .a)])
            let answer = try bench.answer(said, Question(run.host, .a))
            try bench.expect(answer != nil, "the host is not answered")
            try bench.expect(answer?.records.contains { $0.data == new } == false, "the lost address is answered")
        },
    ]
}
