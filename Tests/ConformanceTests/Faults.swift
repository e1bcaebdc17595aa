import Conformance
import DNSMessage
import DNSSD

extension Fault {
    private static func name(_ text: String) -> DomainName { (try? DomainName(presentation: text)) ?? .root }
    private static let type = name("_conf._tcp.local")
    private static let types = name("_services._dns-sd._udp.local")

    private static func isOfProbe(_ packet: Packet, number: Int, _ link: VirtualLink) -> Bool {
        guard packet.isProbe else { return false }
        let key = "\(packet.family) \(packet.questions.map { "\($0.name)" }.sorted())"
        link.counts[key, default: 0] += 1
        return link.counts[key] == number
    }

    /// What another host proposes counts as its answer.
    private static func takesProbesForAnswers(_ rule: Int) -> Fault {
        hears(rule) { packet, _ in
            guard packet.isProbe else { return [packet] }
            let records = packet.proposed.map(withOtherData)
            return [packet.with(Message(flags: [.response, .authoritative], answers: records))]
        }
    }

    /// A record of the same name and type that conflicts with it.
    @Sendable private static func withOtherData(_ record: ResourceRecord) -> ResourceRecord {
        guard case .srv(_, _, let port, let target) = record.data else { return record }
        var other = record
        other.data = .srv(priority: 9, weight: 9, port: port, target: target)
        return other
    }

    private static func isOfAddress(_ packet: Packet) -> Bool {
        packet.isResponse && packet.answers.contains { $0.type == .a || $0.type == .aaaa }
    }

    /// One for each rule that values can break: what belongs to sockets and processes is not here.
    static let all: [Fault] = [
        says(3) { packet, _ in
            var other = packet
            other.hops = 64
            return [other]
        },
        said(4) { $0.id = 7 },
        says(6) { packet, _ in [packet.with(bytes: Array(packet.bytes.dropLast()))] },
        says(7) { packet, _ in
            var other = packet
            other.fragments = packet.answers.count > 1 ? 2 : 1
            return [other]
        },
        says(8) { packet, _ in packet.bytes.count > 1500 ? [] : [packet] },
        says(9) { packet, _ in packet.family == .ipv6 ? [] : [packet] },
        says(10) { packet, _ in packet.isResponse ? (0..<12).map { packet.later(5 * Double($0)) } : [packet] },
        says(11) { packet, link in isOfProbe(packet, number: 2, link) ? [] : [packet] },
        saysRecords(12) { $0.type == .txt ? nil : $0 },
        says(13) { packet, _ in
            packet.isProbe
                ? packet.records { record in
                    var record = record
                    record.flushesCache = true
                    return record
                } : [packet]
        },
        said(14) { message in
            for place in message.questions.indices { message.questions[place].wantsUnicastResponse = false }
        },
        said(15) { message in
            guard !message.authorities.isEmpty else { return }
            message.questions.removeAll { $0.name.labels.count == 2 }
            message.authorities.removeAll { $0.name.labels.count == 2 }
        },
        says(16) { packet, _ in
            guard packet.isProbe, let message = packet.message else { return [packet] }
            return message.questions.map { question in
                packet.with(
                    Message(questions: [question], authorities: message.authorities.filter { $0.name == question.name })
                )
            }
        },
        says(17) { packet, link in isOfProbe(packet, number: 3, link) ? [packet.later(0.1)] : [packet] },
        says(18) { packet, _ in packet.isResponse ? [packet.later(0.6)] : [packet] },
        takesProbesForAnswers(19), takesProbesForAnswers(20), takesProbesForAnswers(21),
        deaf(22) {
            $0.proposed.contains { if case .txt(let bytes) = $0.data { bytes.first ?? 0 > 127 } else { false } }
        },
        heard(23) { $0.authorities.removeAll { $0.type.rawValue == 99 } }, takesProbesForAnswers(24),
        deaf(25) { $0.answers.contains { $0.type == .hinfo } }, deaf(26) { !$0.isToGroup },
        says(27) { packet, _ in packet.questions.contains { $0.name.description.contains("#") } ? [] : [packet] },
        Fault(28) { $0.renames = { name, attempt in "x" + next(name, attempt).dropLast(5) + "\u{0}" } },
        Fault(29) { $0.forgetsConflicts = true },
        hears(30) { packet, _ in
            var other = packet
            other.source.port = 5353
            return [other]
        },
        deaf(31, to: isOfAddress),
        says(32) { packet, link in
            guard packet.isResponse else { return [packet] }
            let first = link.counts["\(packet.family)", default: Int(packet.at * 1000)]
            link.counts["\(packet.family)"] = first
            return 500...2500 ~= Int(packet.at * 1000) - first ? [] : [packet]
        },
        said(33) { message in
            message.additionals += message.answers.filter { $0.type == .a }
            message.answers.removeAll { $0.type == .a }
        },
        saysRecords(34) { record in
            var record = record
            record.flushesCache = true
            return record
        },
        saysRecords(35) { record in
            var record = record
            if record.type == .srv { record.ttl = 4500 }
            return record
        },
        saysRecords(36) { record in
            var record = record
            if case .txt(let bytes) = record.data { record.data = .txt(bytes.count > 1 ? Array(bytes.reversed()) : []) }
            return record
        },
        saysRecords(37) { record in
            var record = record
            if case .txt(let bytes) = record.data, bytes.first == 9 { record.flushesCache = false }
            return record
        },
        Fault(38) { $0.ignoresChanges = true },
        says(39) { packet, _ in packet.isResponse ? [packet.later(0.2)] : [packet] },
        says(40) { packet, _ in packet.isResponse ? [packet.later(0.03)] : [packet] },
        says(41) { packet, _ in packet.split },
        hears(42) { packet, _ in
            guard packet.isQuery, let message = packet.message, message.answers.isEmpty else { return [packet] }
            return message.questions.map { packet.with(Message(questions: [$0], authorities: message.authorities)) }
        },
        says(43) { packet, _ in packet.split }, heard(44) { $0.questions.removeAll { $0.type == .any } },
        deaf(45) { packet in packet.questions.contains { $0.name.wire.contains(0x4C) } },
        deaf(46) { $0.message?.id != 0 }, heard(47) { $0.flags = $0.flags.intersection(.response) },
        heard(48) { message in
            if message.questions.count > 1 { message.questions.removeLast(message.questions.count - 1) }
        },
        said(49) { $0.additionals = [] }, said(50) { $0.additionals = [] },
        saysRecords(51) { $0.type == .nsec ? nil : $0 },
        saysRecords(52) { record in
            var record = record
            if case .nsec(let next, let types) = record.data {
                record.data = .nsec(next: next, types: TypeBitmap(types.types + [.a]))
            }
            return record
        },
        hears(53) { packet, link in
            if packet.isQuery, let question = packet.questions.first, question.name == type, question.type == .txt {
                let nsec = ResourceRecord(type, .nsec, .nsec(next: type, types: [.ptr]), ttl: 120)
                let source = Packet.End(hardware: VirtualLink.hardware, address: VirtualLink.v4, port: 5353)
                let bytes = try? Message(flags: [.response, .authoritative], answers: [nsec]).written(
                    compression: .multicast)
                link.forge(Packet(at: link.now, from: source, to: Group.end(.ipv4), bytes: bytes ?? []))
            }
            return [packet]
        },
        saysRecords(54) { $0.name.isWithin(name("arpa")) ? nil : $0 }, saysRecords(55) { $0.name == types ? nil : $0 },
        saysRecords(56) { $0.name.labels.contains { $0.elementsEqual("_sub".utf8) } ? nil : $0 },
        saysRecords(57) { record in
            var record = record
            if case .a = record.data { record.data = .a(0x7F00_0001) }
            return record
        },
        says(58) { packet, _ in packet.isResponse ? [packet, packet.later(0.3)] : [packet] },
        says(59) { packet, _ in packet.isResponse ? [packet.later(0.4)] : [packet] },
        says(60) { packet, _ in
            var other = packet
            if !packet.isToGroup { other.destination = Group.end(packet.family) }
            return [other]
        },
        says(61) { packet, link in
            guard packet.isResponse, link.counts["QU"] == 1 else { return [packet] }
            var other = packet
            other.destination = Packet.End(hardware: Station.one.hardware, address: Station.one.v4, port: 5353)
            return [other]
        }.also { fault in
            fault.hears = { packet, link in
                link.counts["QU"] = packet.questions.contains { $0.wantsUnicastResponse } ? 1 : 0
                return [packet]
            }
        },
        Fault(62) { $0.believesAll = true },
        heard(63) { message in
            for place in message.questions.indices { message.questions[place].wantsUnicastResponse = true }
        },
        hears(64) { packet, _ in
            var other = packet
            other.destination = Group.end(packet.family)
            return [other]
        },
        Fault(65) { $0.believesAll = true },
        says(66) { packet, _ in
            guard var message = packet.message, packet.destination.port != 5353 else { return [packet] }
            message.id = 0
            return [packet.with(message)]
        },
        says(67) { packet, _ in
            packet.destination.port == 5353
                ? [packet]
                : packet.records { record in
                    var record = record
                    record.ttl = 120
                    return record
                }
        },
        says(68) { packet, _ in packet.message.map { [packet.with($0)] } ?? [packet] },
        hears(69) { packet, _ in
            guard var message = packet.message, packet.isQuery else { return [packet] }
            message.answers = []
            return [packet.with(message)]
        },
        heard(70) { message in for place in message.answers.indices { message.answers[place].ttl = 4500 } },
        deaf(71) { $0.isQuery && !$0.answers.isEmpty }, heard(72) { $0.flags.remove(.truncated) },
        deaf(73) { $0.isQuery && $0.questions.isEmpty }, deaf(74) { $0.isResponse }, deaf(75) { $0.isResponse },
        hears(76) { packet, link in
            if packet.isResponse, link.counts["again"] == nil {
                link.counts["again"] = 1
                for turn in 1...6 { link.hear(packet, after: 0.2 * Double(turn)) }
            }
            return [packet]
        },
        hears(77) { packet, link in
            guard packet.isResponse else { return [packet] }
            link.counts["told", default: 0] += 1
            return link.counts["told"] == 1 ? [packet] : []
        },
        deaf(78, to: isOfAddress),
        hears(79) { packet, _ in
            packet.isResponse
                ? packet.records(withOtherData) : [packet]
        },
        deaf(80) { $0.isResponse },
        hears(81) { packet, _ in
            var other = packet
            other.source.port = 5353
            return [other]
        },
        hears(82) { packet, _ in
            packet.isResponse
                ? packet.records(withOtherData) : [packet]
        },
        saysRecords(84) { $0.ttl == 0 ? nil : $0 }, saysRecords(85) { $0.ttl == 0 ? nil : $0 },
        says(86) { packet, _ in
            packet.records { $0.ttl == 0 ? nil : $0 }
                + (packet.records.contains { $0.ttl == 0 } ? [packet, packet.later(0.4).alive] : [])
        },
        Fault(87) { $0.ignoresChanges = true },
        hears(90) { packet, link in
            if packet.message == nil { link.isDead = true }
            return [packet]
        },
        deaf(91) { $0.bytes.count > 1500 },
        Fault(92) { fault in
            fault.publishes = { service in
                var service = service
                service.name = service.name.lowercased()
                return service
            }
        },
        says(93) { packet, _ in packet.isResponse ? [packet.later(6)] : [packet] },
        said(94) { message in if message.answers.count > 20 { message.answers.removeLast(message.answers.count - 20) }
        },
        says(95) { packet, _ in packet.isResponse ? (0..<9).map { packet.later(0.01 * Double($0)) } : [packet] },
        Fault(97) { $0.hasNamesForProcesses = true }, Fault(98) { $0.isDeaf = true },
        Fault(99) { $0.endsOthers = true },
    ]

    private func also(_ alter: (inout Fault) -> Void) -> Fault {
        var fault = self
        alter(&fault)
        return fault
    }
}

extension Packet {
    /// With the lives that its records had before a goodbye.
    fileprivate var alive: Packet {
        records { record in
            var record = record
            if record.ttl == 0 { record.ttl = 120 }
            return record
        }.first ?? self
    }
}
