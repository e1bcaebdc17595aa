import DNSMessage
import DNSSD

// RFC 6762 §8.1, §8.2, §9: two hosts want one name.
extension Rule {
    /// A probe of another host for the subject's name, as soon as that is probed for.
    @Sendable private static func contest(_ bench: Bench, _ records: (Packet, DomainName) -> Message) throws -> (
        name: DomainName, said: Said
    ) {
        let (probe, name) = try bench.firstProbe()
        let said = Said(mark: bench.mark, at: bench.now)
        try bench.send(records(probe, name))
        return (name, said)
    }

    /// RFC 6762 §8.2: silence for a second, three probes, the same name.
    @Sendable private static func isDeferred(_ bench: Bench, _ name: DomainName, _ said: Said) throws {
        try bench.pass(5)
        let after = bench.said(since: said.mark)
        let early = after.first { $0.probes(for: name) && 0.06...0.9 ~= $0.at - said.at }
        try bench.expect(early == nil, "it goes on \(bench.milliseconds((early?.at ?? 0) - said.at)) later")
        let probes = after.filter { $0.family == .ipv4 && $0.probes(for: name) && $0.at - said.at > 0.9 }
        try bench.expect(probes.count >= 3, "\(probes.count) probes for the same name after a second")
        try bench.expect(try bench.isTold(name, within: 2, since: said.mark) != nil, "the name is not announced")
    }

    /// RFC 6762 §8.2: it has won, and nothing changes.
    @Sendable private static func isUndisturbed(_ bench: Bench, _ name: DomainName, _ said: Said) throws {
        let told = try bench.isTold(name, within: 5, since: said.mark)
        try bench.expect(told != nil, "the name is not announced within 5 s")
        // Three probes; python-zeroconf announces later than need be.
        try bench.expect(
            (told?.at ?? 0) - said.at < 1.3, "announced \(bench.milliseconds((told?.at ?? 0) - said.at)) later")
    }

    private static func proposal(_ name: DomainName, _ records: [ResourceRecord]) -> Message {
        Message(questions: [Question(name, .any, wantsUnicastResponse: true)], authorities: records)
    }

    private static func text(_ name: DomainName, _ data: [UInt8]) -> ResourceRecord {
        ResourceRecord(name, .txt, .txt(data), ttl: 4500)
    }

    private static func long(_ length: UInt8) -> [UInt8] { [length] + [UInt8](repeating: 0x7A, count: Int(length)) }

    static let conflicts: [Rule] = [
        Rule(
            19, .must, "8.2", "Tiebreak lost: silence for a second, then probes anew, and the name if nobody has it",
            "A stale packet renames the service"
        ) { bench in
            let (name, said) = try contest(bench) { _, name in
                proposal(name, [text(name, long(120)), bench.rival(name)])
            }
            try isDeferred(bench, name, said)
        },
        Rule(
            20, .must, "8.2", "Tiebreak won: goes on undisturbed",
            "Both give way, or both take the name"
        ) { bench in
            let (name, said) = try contest(bench) { _, name in proposal(name, [text(name, [0]), bench.rival(name)]) }
            try isUndisturbed(bench, name, said)
        },
        Rule(
            21, .must, "8.2.1", "Tiebreak: equal records are no conflict",
            "A host that hears itself renames itself"
        ) { bench in
            let (name, said) = try contest(bench) { probe, name in
                proposal(name, probe.proposed.filter { $0.name == name })
            }
            try isUndisturbed(bench, name, said)
        },
        Rule(
            22, .must, "8.2", "Tiebreak: bytes are unsigned",
            "Two different programs both believe to have won"
        ) { bench in
            let (name, said) = try contest(bench) { _, name in
                proposal(name, [text(name, long(200)), bench.rival(name)])
            }
            let told = try bench.isTold(name, within: 1.6, since: said.mark)
            try bench.expect(told == nil, "it did not give way to 200 after \(Service.usualTXT[0].count)")
        },
        Rule(
            23, .must, "8.2.1", "Tiebreak: sorted lists, type before data, and the longer one wins",
            "Two different programs both believe to have won"
        ) { bench in
            let (name, said) = try contest(bench) { probe, name in
                let own = probe.proposed.filter { $0.name == name }
                let more = ResourceRecord(name, RecordType(rawValue: 99), .other([0]), ttl: 120)
                return proposal(name, [more] + own.reversed())
            }
            let told = try bench.isTold(name, within: 1.6, since: said.mark)
            try bench.expect(told == nil, "it did not give way to a longer list")
        },
        Rule(
            24, .must, "8.2", "Tiebreak: names are uncompressed before they are compared",
            "Two different programs both believe to have won"
        ) { bench in
            let first = Names.name("a.local")
            let (name, said) = try contest(bench) { probe, name in
                let text = probe.proposed.filter { $0.name == name && $0.type == .txt }
                let srv = ResourceRecord(name, .srv, .srv(priority: 0, weight: 0, port: 9000, target: first), ttl: 120)
                return Message(
                    questions: [Question(name, .any), Question(first, .any)],
                    authorities: text + [srv])
            }
            try isUndisturbed(bench, name, said)
        },
        Rule(
            25, .must, "8.1", "An answer to a probe, of any type, has the name: another one is taken",
            "Two services of one name"
        ) { bench in
            let (_, name) = try bench.firstProbe()
            let said = try bench.tell([
                ResourceRecord(name, .hinfo, .hinfo(cpu: [0x61], os: [0x62]), ttl: 120, flushesCache: true)
            ])
            let other = try bench.otherName(than: [name], within: 8, since: said.mark)
            try bench.expect(other != nil, "no other name within 8 s")
            try bench.expect(try bench.isTold(name, within: 0.1, since: said.mark) == nil, "the old name is announced")
        },
        Rule(
            26, .must, "8.1", "Also one after the third probe, over one family, by unicast",
            "Two services of one name"
        ) { bench in
            let (first, name) = try bench.firstProbe()
            let family = IPAddress.Family.ipv6
            var count = first.family == family ? 1 : 0
            let third = try bench.wait(3) { packet in
                if packet.family == family, packet.probes(for: name) { count += 1 }
                return count == 3
            }
            guard let third else { throw Bench.Deviation(seen: "\(count) probes over IPv6") }
            try bench.pass(0.1)
            let said = try bench.tell([bench.rival(name)], over: family, to: third.source.address)
            let other = try bench.otherName(than: [name], within: 8, since: said.mark)
            try bench.expect(other != nil, "no other name within 8 s")
        },
        Rule(
            27, .must, "9", "The new name is probed for in full, and the old one never announced",
            "Caches hold a service that is somebody else's"
        ) { bench in
            let (_, name) = try bench.firstProbe()
            let said = try bench.tell([bench.rival(name)])
            guard let other = try bench.otherName(than: [name], within: 8, since: said.mark) else {
                throw Bench.Deviation(seen: "no other name within 8 s")
            }
            try bench.expect(other.packet.isProbe, "the new name is told before it is probed for")
            try bench.expect(
                try bench.isTold(other.name, within: 8, since: said.mark) != nil, "the new name is not announced")
            let probes = bench.said(since: said.mark, over: .ipv4).filter { $0.probes(for: other.name) }
            try bench.expect(probes.count == 3, "\(probes.count) probes for the new name")
            try bench.expect(try bench.isTold(name, within: 0.1, since: said.mark) == nil, "the old name was announced")
        },
        Rule(
            28, .experience, "9", "The new name has 63 bytes at most, and whole characters",
            "The name cannot be registered, or shows as garbage"
        ) { bench in
            let (_, name) = try bench.firstProbe([Service(String(repeating: "ü", count: 31) + "x")])
            let said = try bench.tell([bench.rival(name)])
            guard let other = try bench.otherName(than: [name], within: 8, since: said.mark) else {
                throw Bench.Deviation(seen: "no other name within 8 s")
            }
            let label = Array(other.name.labels.first ?? [])
            try bench.expect(String(validating: label, as: UTF8.self) != nil, "half a character in \(other.name)")
        },
        Rule(
            29, .must, "8.1", "Fifteen conflicts in ten seconds: five seconds before each further attempt",
            "A broken device makes it flood the link"
        ) { bench in
            var (_, name) = try bench.firstProbe()
            var (names, times): (Set<DomainName>, [Double]) = ([name], [])
            let began = bench.now
            while bench.now - began < 60, times.count < 24 {
                let said = try bench.tell([bench.rival(name)])
                times.append(said.at)
                guard let other = try bench.otherName(than: names, within: 25, since: said.mark) else { break }
                if other.packet.at - said.at > 4, times.count > 10 { return }
                name = other.name
                names.insert(name)
            }
            try bench.expect(times.count >= 16, "it gave up after \(times.count) conflicts")
            throw Bench.Deviation(seen: "\(times.count) attempts in \(Int(bench.now - began)) s")
        },
        Rule(
            30, .must, "6, 8.1", "A response from another port has nothing to say",
            "Any program of an unprivileged user can rename services"
        ) { bench in
            let (_, name) = try bench.firstProbe()
            let said = try bench.tell([bench.rival(name)], port: 5354)
            try isUndisturbed(bench, name, said)
        },
        Rule(
            31, .must, "9, 14", "The host's name is taken: another one, and SRV points to it",
            "Clients connect to the other host"
        ) { bench in
            let run = try bench.usual()
            try bench.start()
            let probe = try bench.wait(12) { packet in
                packet.isProbe && packet.proposed.contains { $0.type == .a || $0.type == .aaaa }
            }
            guard let name = probe?.proposed.first(where: { $0.type == .a || $0.type == .aaaa })?.name else {
                throw Bench.Deviation(seen: "no probe for the host's name")
            }
            let said = try bench.tell([ResourceRecord(name, .a, .a(0x0A4D_0063), ttl: 120, flushesCache: true)])
            let srv = try bench.wait(15, since: said.mark) { packet in
                packet.isResponse && packet.records.contains { $0.port == 9000 && $0.ttl > 0 }
            }
            let target = srv?.records.first { $0.port == 9000 }?.target
            try bench.expect(target != nil, "the service is not announced within 15 s")
            try bench.expect(target != name, "SRV points to the name that another host has")
            _ = run
        },
    ]
}
