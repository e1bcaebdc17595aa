import DNSMessage
import DNSSD

// RFC 6762 §9, §10.1, §14: what others say of an established name.
extension Rule {
    static let defending: [Rule] = [
        Rule(
            75, .must, "9", "A record that conflicts with an established one: it probes at once",
            "Two services of one name stay for as long as both run"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.contradict(run)
            let probe = try bench.wait(2, since: said.mark) { $0.probes(for: run.instance) }
            try bench.expect(probe != nil, "no probe within 2 s")
        },
        Rule(
            76, .must, "9", "Where nobody answers those probes, it keeps the name",
            "One forged packet renames a service"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.contradict(run)
            try bench.pass(6)
            let last = bench.responses(since: said.mark).flatMap(\.records).last { $0.port == 9000 && $0.ttl > 0 }
            try bench.expect(
                last == nil || last?.name == run.instance, "it is called \(last?.name.description ?? "") now")
            try bench.quiet()
            let question = Question(run.instance, .srv)
            let again = try bench.ask([question])
            try bench.expect(
                try bench.answer(again) { $0.name == run.instance && $0.port == 9000 } != nil,
                "the name is not answered")
        },
        Rule(
            77, .must, "9", "Where somebody does, it gives up the name, and is announced under another",
            "Two services of one name stay for as long as both run"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.contradict(run)
            let probe = try bench.wait(2, since: said.mark) { $0.probes(for: run.instance) }
            try bench.expect(probe != nil, "it does not probe for the name")
            try bench.tell([bench.rival(run.instance)])
            let other = try bench.wait(10, since: said.mark) { packet in
                packet.isResponse
                    && packet.records.contains { $0.port == 9000 && $0.name != run.instance && $0.ttl > 0 }
            }
            try bench.expect(other != nil, "no other name within 10 s")
        },
        Rule(
            78, .must, "9", "The host's name, likewise; its services follow",
            "Clients connect to the other host"
        ) { bench in
            let run = try bench.usual()
            bench.spoil()
            let rival = ResourceRecord(run.host, .a, .a(0x0A4D_0063), ttl: 120, flushesCache: true)
            let said = try bench.tell([rival])
            _ = try bench.wait(2, since: said.mark) { $0.probes(for: run.host) }
            try bench.tell([rival])
            let moved = try bench.wait(15, since: said.mark) { packet in
                packet.isResponse && packet.records.contains { $0.port == 9000 && $0.target != run.host && $0.ttl > 0 }
            }
            try bench.expect(moved != nil, "SRV points to the taken name after 15 s")
        },
        Rule(
            79, .must, "6.6, 9", "Other data of a shared record, and equal records of others, are no conflict",
            "Each service of the same type renames the others"
        ) { bench in
            let run = try bench.usual()
            let srv = try bench.ask([Question(run.instance, .srv)])
            guard
                let own = try bench.answer(srv, Question(run.instance, .srv))?.answers.first(where: { $0.type == .srv })
            else {
                throw Bench.Deviation(seen: "no answer")
            }
            try bench.quiet()
            let said = try bench.tell([
                ResourceRecord(Names.type, .ptr, .ptr(Names.instance("another")), ttl: 4500), own,
            ])
            try bench.expectNoProbe(since: said)
        },
        Rule(
            80, .must, "6.6, 10.1",
            "Its record, told by another with less than half the TTL or with 0, is announced again",
            "A device that leaves takes the services of others with it"
        ) { bench in
            let run = try bench.usual()
            bench.spoil()
            for ttl: UInt32 in [0, 1000] {
                var record = run.pointer
                record.ttl = ttl
                let said = try bench.tell([record])
                let again = try bench.answer(said, within: 1.5) { $0.isLike(run.pointer) && $0.ttl == 4500 }
                try bench.expect(again != nil, "not announced again after a TTL of \(ttl)")
                try bench.quiet()
            }
        },
        Rule(
            81, .must, "6, 11", "A conflict from another port, or by unicast from another network, does not count",
            "Any host of the Internet can rename services"
        ) { bench in
            let run = try bench.usual()
            guard let address = run.address(.ipv4) else { throw Bench.Deviation(seen: "no IPv4 address") }
            let said = try bench.tell([bench.rival(run.instance)], port: 5354)
            try bench.tell([bench.rival(run.instance)], from: .far, to: address)
            try bench.expectNoProbe(since: said)
        },
        Rule(
            82, .experience, "8.2", "Its own packets come back from another address: no conflict, no storm",
            "A reflector in the router makes it rename itself for ever"
        ) { bench in
            try bench.start()
            let began = bench.now
            var place = 0
            var late: [(at: Double, packet: Packet)] = []
            while bench.now - began < 9 {
                try bench.pass(0.01)
                while place < bench.mark {
                    let packet = bench.log[place]
                    place += 1
                    guard !packet.isOurs, packet.isToGroup else { continue }
                    try bench.send(packet.bytes, from: .two, over: packet.family)
                    late.append((bench.now + 0.7, packet))
                }
                while let first = late.first, first.at <= bench.now {
                    late.removeFirst()
                    try bench.send(first.packet.bytes, from: .two, over: first.packet.family)
                }
            }
            let names = Set(bench.responses().flatMap(\.records).filter { $0.port == 9000 }.map(\.name))
            try bench.expect(names.count == 1, names.isEmpty ? "it is not announced" : "it had \(names.count) names")
            try bench.expect(bench.said(over: .ipv4).count < 40, "\(bench.said(over: .ipv4).count) packets in 9 s")
        },
        Rule(
            83, .experience, "14", "Two interfaces on one link: no conflict with itself, no storm",
            "A machine with cable and Wi-Fi renames itself for ever"
        ) { bench in
            try bench.need(.links)
            try bench.stop()
            defer { try? bench.subject.change(.secondLink(isThere: false, onFirst: true)) }
            try bench.subject.change(.secondLink(isThere: true, onFirst: true))
            try bench.start()
            let run = try bench.settle()
            try bench.pass(5)
            let records = bench.responses().flatMap(\.records)
            let names = Set(records.filter { $0.port == 9000 }.map(\.name))
            try bench.expect(
                names == [Names.instance("tony")],
                "it is called \(names.map(\.description).sorted().joined(separator: ", "))")
            let hosts = Set(records.compactMap(\.target))
            try bench.expect(hosts.count == 1, "\(hosts.count) host names")
            try bench.expect(bench.said(over: .ipv4).count < 60, "\(bench.said(over: .ipv4).count) packets over IPv4")
            let said = try bench.ask([run.list])
            try bench.expect(try bench.answer(said, run.list) != nil, "not answered")
        },
    ]
}
