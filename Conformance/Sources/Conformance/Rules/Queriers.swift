import DNSMessage
import DNSSD

// RFC 6762 §5, §7, §10: programs that look for services. The suite plays those who answer.
extension Rule {
    /// Rules of queriers, in order.
    package static let queriers: [Rule] = asking + hearing + reading + knowing + repeating + living

    private static let asking: [Rule] = [
        Rule(
            101, .must, "5.2, 11, 18", "Questions leave port 5353 for the group, with TTL 255, id 0 and no flag but TC",
            "Responders take it for a plain resolver, or ignore it"
        ) { bench in
            try bench.search()
            try bench.pass(4)
            for packet in bench.questions() + bench.questions(over: .ipv6) {
                try bench.expect(packet.hops == 255, "TTL \(packet.hops)")
                try bench.expect(
                    packet.isToGroup && packet.destination.port == Group.port, "not to the group's port 5353")
                try bench.expect(packet.message?.id == 0, "id \(packet.message?.id ?? 0)")
                try bench.expect(packet.message?.flags.subtracting(.truncated) == [], "with flags")
            }
        },
        Rule(
            102, .must, "5.2", "A second passes after the first question, and each further interval is twice as long",
            "Who waits for a service floods the link"
        ) { bench in
            try bench.search()
            try bench.pass(16)
            let times = bench.questions().map(\.at)
            try bench.expect(times.count >= 3, "\(times.count) questions in 16 s")
            let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
            try bench.expect(gaps[0] >= 0.95, "\(bench.milliseconds(gaps[0])) after the first")
            for (gap, next) in zip(gaps, gaps.dropFirst()) {
                try bench.expect(
                    next >= gap * 1.9, "intervals of \(bench.milliseconds(gap)), then \(bench.milliseconds(next))")
            }
        },
        Rule(
            103, .should, "20", "It asks over IPv4 and IPv6", "Services of hosts that have one family are not found"
        ) { bench in
            try bench.search()
            try bench.pass(1)
            for family in IPAddress.Family.allCases {
                try bench.expect(!bench.questions(over: family).isEmpty, "no question over \(family.rawValue)")
            }
        },
        Rule(
            104, .should, "7.1", "What it knows for more than half the TTL is listed in its next question",
            "All services answer each question again"
        ) { bench in
            try bench.search()
            let said = try bench.found()
            let next = try bench.wait(12, since: said.mark) { Bench.isQuestion($0) && $0.at > said.at + 0.5 }
            try bench.expect(next != nil, "no further question within 12 s")
            try bench.expect(next?.answers.contains { $0.isLike(Bench.records()[0]) } == true, "not listed")
        },
        Rule(
            105, .must, "7.1", "What it knows for less than half the TTL is not listed",
            "Services end in lists though they are there"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 12))
            try bench.pass(11)
            let late = bench.questions(since: said.mark).filter { $0.at - said.at > 6.5 }
            if late.isEmpty { throw Bench.Unjudged(reason: "it asks nothing in the second half of the life") }
            for packet in late {
                try bench.expect(
                    !packet.answers.contains { $0.isLike(Bench.records()[0]) },
                    "listed \(bench.milliseconds(packet.at - said.at)) of 12 s later")
            }
        },
        Rule(
            106, .must, "10.2", "Known answers have no cache-flush bit", "Caches of the others forget what is true"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.pass(12)
            let listed = bench.said().filter { $0.isQuery && $0.source.port == Group.port }.flatMap(\.answers)
            try bench.expect(!listed.contains(where: \.flushesCache), "the bit on a known answer")
        },
        Rule(
            107, .should, "5.2", "It asks again before a record that it shows ends",
            "Services vanish and come back, or have old addresses"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 20))
            try bench.pass(20.5)
            let asked = bench.questions(since: said.mark).contains { 15.5...20.4 ~= $0.at - said.at }
            try bench.expect(asked, "no question in the last fifth of the life")
        },
        Rule(
            108, .must, "7.2", "Many known answers: packets below the MTU, with TC in all but the last",
            "The list is answered as if nothing were known"
        ) { bench in
            try bench.search()
            let packets = try bench.manyKnown()
            try bench.expect(packets.allSatisfy { $0.fragments == 1 }, "a packet in fragments")
            try bench.expect(
                packets.flatMap(\.answers).filter { $0.type == .ptr }.count >= 100,
                "\(packets.flatMap(\.answers).count) of 150 listed")
            let cut = packets.map { $0.message?.flags.contains(.truncated) ?? false }
            try bench.expect(
                cut.dropLast().allSatisfy(\.self) && cut.last == false,
                "TC in \(cut.count(where: \.self)) of \(cut.count) packets")
        },
        Rule(
            109, .should, "RFC 6763 12", "What came along with the list is not asked for",
            "Each service costs three questions of each client"
        ) { bench in
            try bench.search()
            let said = try bench.found()
            try bench.pass(3)
            let asked = bench.said(since: said.mark).flatMap(\.questions).filter {
                $0.name == Names.instance("tony") && ($0.type == .srv || $0.type == .txt)
            }
            try bench.expect(asked.isEmpty, "asked for \(asked.first?.type.description ?? "")")
        },
        Rule(
            110, .experience, "RFC 6763 12", "Where the list came alone, it asks for SRV and TXT",
            "The service is listed, and cannot be used"
        ) { bench in
            try bench.search()
            let said = try bench.offer([Bench.records()[0]])
            let asked = try bench.wait(5, since: said.mark) {
                $0.isQuery
                    && $0.questions.contains {
                        $0.name == Names.instance("tony") && ($0.type == .srv || $0.type == .any)
                    }
            }
            try bench.expect(asked != nil, "no question for the service within 5 s")
        },
        Rule(
            111, .must, "5.2", "An end: no question any more", "Wi-Fi and batteries of all devices are used for nothing"
        ) { bench in
            try bench.search()
            try bench.stop()
            let end = bench.now
            try bench.pass(12)
            try bench.expect(!bench.questions().contains { $0.at > end }, "it asks after its end")
        },
        Rule(
            112, .should, "10.3", "A link that is back: it asks anew",
            "What came or went meanwhile is not seen for an hour"
        ) { bench in
            try bench.need(.host)
            try bench.search()
            try bench.pass(10.5)
            try bench.subject.change(.link(isUp: false))
            try bench.pass(2)
            let mark = bench.mark
            try bench.subject.change(.link(isUp: true))
            let asked = try bench.wait(3, since: mark, for: Bench.isQuestion)
            try bench.expect(asked != nil, "no question within 3 s")
        },
    ]

    private static let hearing: [Rule] = [
        Rule(
            113, .must, "10", "A record that nobody renews ends with its TTL",
            "What is gone is listed, and cannot be reached"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 6))
            let gone = try bench.shown(isThere: false, after: said.at, within: 14)
            try bench.expect(gone != nil, "it is there after 14 s")
            try bench.expect(
                (gone?.at ?? 0) - said.at > 5.5, "gone after \(bench.milliseconds((gone?.at ?? 0) - said.at))")
        },
        Rule(114, .should, "10.1", "A goodbye ends a service, after a second", "What has left is listed") { bench in
            try bench.search()
            try bench.found()
            try bench.pass(1.5)
            let said = try bench.offer(Bench.records(ttl: 0))
            let gone = try bench.shown(isThere: false, after: said.at, within: 7)
            try bench.expect(gone != nil, "it is there after 7 s")
            try bench.expect(
                (gone?.at ?? 0) - said.at > 0.8, "gone after \(bench.milliseconds((gone?.at ?? 0) - said.at))")
        },
        Rule(
            115, .should, "10.1", "An announcement within that second takes the goodbye back",
            "A restart of a program makes its service flicker"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.pass(1.5)
            let said = try bench.offer(Bench.records(ttl: 0))
            try bench.pass(0.4)
            try bench.offer(Bench.records())
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 5) == nil, "it was shown as gone")
        },
        Rule(
            116, .must, "10.2", "A record with the cache-flush bit takes the old one's place",
            "Clients connect to the old port"
        ) { bench in
            try bench.need(.follow)
            try bench.search()
            try bench.found()
            try bench.pass(1.5)
            let said = try bench.offer(Bench.records(port: 9200))
            try bench.expect(
                try bench.shown(port: 9200, after: said.at, within: 4) != nil, "the new port is not shown within 4 s"
            )
        },
        Rule(117, .must, "10.2", "Services of several hosts stand beside each other", "One service hides the others") {
            bench in
            try bench.search()
            try bench.found()
            let said = try bench.offer(Bench.records("anna", port: 9101, of: .two), from: .two)
            try bench.expect(
                try bench.shown("anna", after: said.at, within: 4) != nil, "the second one is not found")
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 3) == nil, "the first one is gone")
        },
        Rule(
            118, .must, "6", "A response from another port is ignored",
            "Any program of an unprivileged user can forge services"
        ) { bench in
            try bench.search()
            let said = try bench.tell(Bench.records(), port: 5354)
            try bench.expectDisbelief(since: said.at)
        },
        Rule(
            119, .must, "11", "A unicast response from another network is ignored",
            "Any host of the Internet can forge services"
        ) { bench in
            let first = try bench.search()
            let said = try bench.tell(Bench.records(), from: .far, to: first.source.address)
            try bench.expectDisbelief(since: said.at)
        },
        Rule(
            120, .must, "18.3, 18.11", "Responses with another opcode or an error are ignored",
            "What is no answer is shown"
        ) { bench in
            try bench.search()
            let at = bench.now
            for flags: UInt16 in [0x8400 | 5 << 11, 0x8403] {
                try bench.send(Message(flags: Message.Flags(rawValue: flags), answers: Bench.records()))
            }
            try bench.expectDisbelief(since: at)
        },
        Rule(121, .must, "16", "Names are compared without case", "Services of some devices are not found, or twice") {
            bench in
            try bench.search()
            let said = try bench.offer(Bench.records(type: Names.name("_CONF._TCP.local")))
            try bench.expect(try bench.shown(after: said.at, within: 4) != nil, "not found")
        },
        Rule(
            122, .experience, "18", "Malformed packets are ignored, and it lives",
            "One broken device blinds all clients"
        ) { bench in
            try bench.search()
            let good =
                (try? Message(flags: [.response, .authoritative], answers: Bench.records()).written(
                    compression: .multicast)) ?? []
            let loop: [UInt8] = [
                0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 9, 0, 2, 0xC0, 12,
            ]
            for bytes in [[], [0], Array(good.prefix(11)), [UInt8](repeating: 0xFF, count: 600), loop] {
                try bench.send(bytes)
            }
            try bench.pass(0.5)
            try bench.found()
        },
        Rule(123, .must, "17", "A response of 8 KB, in fragments, is read", "Lists of large machines are incomplete") {
            bench in
            try bench.search()
            let many = (1...140).map { Bench.records("service number \(1000 + $0) of many others")[0] }
            let said = try bench.tell(many + Bench.records("last"))
            try bench.expect(
                try bench.shown("last", after: said.at, within: 5) != nil, "the last one of it is not found")
        },
        Rule(124, .must, "8.3", "What is announced unasked is found", "New services are seen an hour later") { bench in
            try bench.search()
            try bench.pass(5.2)
            try bench.found()
        },
        Rule(
            125, .must, "16", "Names with dots, capitals and UTF-8 are shown as they are",
            "Names of people's devices are wrong in lists"
        ) { bench in
            try bench.search()
            for name in ["A.b Capital.", "Zoë's — büro"] {
                let said = try bench.offer(Bench.records(name))
                try bench.expect(try bench.shown(name, after: said.at, within: 4) != nil, "'\(name)' is not found")
            }
        },
        Rule(
            126, .should, "15.1", "It shares port 5353 with a program that was there first",
            "It finds nothing where a media player runs"
        ) { bench in
            try bench.need(.company, .browse)
            try bench.stop()
            try bench.subject.change(.squatter(isThere: true))
            defer { try? bench.subject.change(.squatter(isThere: false)) }
            try bench.search()
            try bench.found()
        },
    ]

    private static let reading: [Rule] = [
        Rule(
            127, .should, "7.3", "What another host has just asked is not asked again",
            "Where many look for the same, each of them asks"
        ) { bench in
            try bench.search()
            try bench.pass(14)
            let alone = bench.questions().count
            try bench.search()
            let mark = bench.mark
            for _ in 0..<28 {
                try bench.pass(0.5)
                try bench.ask([Bench.question], from: .two)
                try bench.ask([Bench.question], from: .two, over: .ipv6)
            }
            let count = 1 + bench.questions(since: mark).count
            try bench.expect(count < alone, "\(count) questions in 14 s beside another host's, \(alone) alone")
        },
        Rule(
            128, .should, "5.4", "A question for a unicast answer takes one",
            "A start makes noise for all, and its answers are in vain"
        ) { bench in
            let first = try bench.search()
            guard first.questions.contains(where: \.wantsUnicastResponse) else {
                throw Bench.Unjudged(reason: "it asks for answers to the group alone")
            }
            let said = try bench.tell(
                Bench.records(), over: first.family, to: first.source.address)
            try bench.expect(try bench.shown(after: said.at, within: 3) != nil, "a unicast answer is not taken")
        },
        Rule(
            129, .must, "10", "Records of other classes are not shown", "What is no service of the Internet is shown"
        ) { bench in
            try bench.search()
            let foreign = Bench.records().map { record in
                var record = record
                record.recordClass = RecordClass(rawValue: 3)
                return record
            }
            let said = try bench.offer(foreign)
            try bench.expect(try bench.shown(after: said.at, within: 2.5) == nil, "a record of class CH is shown")
        },
        Rule(
            130, .must, "RFC 6763 6.1", "A TXT record without a byte is an empty one",
            "Services of simple devices cannot be used"
        ) { bench in
            try bench.search()
            let records = Bench.records().map { record in
                var record = record
                if record.type == .txt { record.data = .txt([]) }
                return record
            }
            let said = try bench.offer(records)
            try bench.expect(
                try bench.shown(port: 9100, after: said.at, within: 5) != nil, "the service is not resolved")
        },
        Rule(131, .must, "RFC 6763 4.1.1", "A name of 63 bytes is shown whole", "Names of people's devices are cut") {
            bench in
            try bench.search()
            let name = String(repeating: "ü", count: 31) + "x"
            let said = try bench.offer(Bench.records(name))
            try bench.expect(try bench.shown(name, after: said.at, within: 4) != nil, "not found")
        },
        Rule(
            132, .must, "18", "Records of unknown types do not hide the others",
            "Services of newer devices are not found"
        ) { bench in
            try bench.search()
            let unknown = [65, 999].map { number in
                ResourceRecord(Names.instance("tony"), RecordType(rawValue: number), .other([1, 2, 3]), ttl: 120)
            }
            try bench.found(unknown + Bench.records())
        },
        Rule(
            133, .experience, "18", "An OPT record in a response does no harm",
            "Services of Apple's devices are not found"
        ) { bench in
            try bench.search()
            let options = EDNS(payloadSize: 1440, options: [EDNS.Option(code: 4, data: [0, 1, 2, 3, 4, 5, 6, 7])])
            let at = bench.now
            try bench.send(Message(flags: [.response, .authoritative], answers: Bench.records(), edns: options))
            try bench.expect(try bench.shown(after: at, within: 4) != nil, "not found")
        },
        Rule(134, .must, "20", "What comes over IPv6 alone is found", "Hosts without IPv4 are not there") { bench in
            try bench.search()
            let said = try bench.tell(Bench.records(), over: .ipv6)
            try bench.expect(try bench.shown(after: said.at, within: 4) != nil, "not found")
        },
        Rule(
            135, .must, "11", "What comes to the group is of the link, whatever its source",
            "Hosts with another prefix are not there"
        ) { bench in
            try bench.search()
            let said = try bench.tell(Bench.records(), from: .far)
            try bench.expect(try bench.shown(after: said.at, within: 4) != nil, "not found")
        },
        Rule(
            136, .must, "18.1 to 18.10", "The id and other flags of a response do not matter",
            "Services of simple devices are not found"
        ) { bench in
            try bench.search()
            let at = bench.now
            try bench.send(Message(id: 77, flags: Message.Flags(rawValue: 0x8000 | 0x01B0), answers: Bench.records()))
            try bench.expect(try bench.shown(after: at, within: 4) != nil, "not found")
        },
        Rule(137, .must, "6", "Questions in a response do not matter", "Services of simple devices are not found") {
            bench in
            try bench.search()
            let at = bench.now
            try bench.send(
                Message(flags: [.response, .authoritative], questions: [Bench.question], answers: Bench.records()))
            try bench.expect(try bench.shown(after: at, within: 4) != nil, "not found")
        },
    ]
}
