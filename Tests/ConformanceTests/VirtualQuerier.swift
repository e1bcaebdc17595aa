import Conformance
import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Records

/// The reference of those that look for services: our querier of a link in virtual time. A fault alters what it hears, says and shows.
final class VirtualQuerier: Medium, Implementation {
    let name = "reference"
    let version = "0"
    let abilities: Set<Ability> = [.browse, .follow, .host]

    private static let interface = NetworkInterface(index: 1, name: "eth0")

    private var clock = VirtualClock()
    private var link: LinkQuerier?
    private var graph: ServiceGraph?
    private var all: [Shown] = []
    private var isUp = true
    private let fault: QuerierFault
    var isDead = false
    /// It has heard a goodbye.
    var isSad = false

    init(_ fault: QuerierFault = QuerierFault(0)) { self.fault = fault }

    private var time: Duration { clock.time }
    var now: Double { clock.now }

    // MARK: Medium

    func send(_ packet: Packet) {
        for heard in fault.hears(packet, self) { hear(heard) }
    }

    private func hear(_ packet: Packet) {
        guard isUp, !isDead, packet.source.port == Group.port || fault.believesAll,
            packet.isToGroup || packet.source.hardware != Station.far.hardware || fault.believesAll,
            let message = HeardMessage(packet.bytes)?.message
        else { return }
        let source = PacketSource(UInt32(packet.source.hardware[5]))
        let changes = link?.received(
            message, isOwn: false, over: packet.family, from: source, size: packet.bytes.count, at: time)
        changed(changes ?? [])
    }

    func next(until limit: Double) -> Packet? {
        while true {
            turn()
            if let first = clock.take() { return first }
            let due = [link?.deadline(at: time), graph?.deadline].compactMap(\.self).min()
            guard clock.advance(to: due.map(clock.seconds(of:)), within: limit) else { return nil }
        }
    }

    private func turn() {
        guard var link, var graph else { return }
        let changes = link.advance(to: time)
        graph.changed(changes, &link, at: time)
        if let due = graph.deadline, due <= time { graph.advance(to: time, &link) }
        let packets = link.packets(at: time)
        _ = link.oneShotPackets(at: time)
        (self.link, self.graph) = (link, graph)
        show()
        guard isUp, !isDead else { return }
        for bytes in packets {
            for family in IPAddress.Family.allCases {
                let address = family == .ipv4 ? VirtualLink.v4 : VirtualLink.v6
                let packet = Packet(
                    at: now,
                    from: Packet.End(hardware: VirtualLink.hardware, address: address, port: Group.port),
                    to: Group.end(family), fragments: bytes.count > 1452 ? 2 : 1, bytes: bytes)
                clock.outgoing += fault.says(packet, self)
            }
        }
    }

    private func changed(_ changes: [RecordCache.Change]) {
        guard var link, var graph else { return }
        graph.changed(changes, &link, at: time)
        (self.link, self.graph) = (link, graph)
        show()
    }

    private func show() {
        for fact in graph?.takeFacts() ?? [] {
            let sighting: Shown? =
                switch fact {
                case .appeared(let seen):
                    Shown(at: now, isThere: true, name: seen.instance.name.text, port: nil)
                case .disappeared(let seen), .withdrawn(let seen):
                    Shown(at: now, isThere: false, name: seen.instance.name.text, port: nil)
                case .resolved(let found):
                    Shown(
                        at: now, isThere: true, name: found.instance.name.text,
                        port: found.targets.first?.port?.rawValue)
                default: nil
                }
            if let sighting { all += fault.shows(sighting) }
        }
    }

    // MARK: Implementation

    func browse(_ type: String) throws {
        (all, isDead, isSad) = ([], false, false)
        var link = LinkQuerier(
            cache: RecordCache(seed: 1), schedule: QuestionSchedule(random: Dice(seed: 5)))
        link.uses(IPAddress.Family.allCases)
        let query = ServiceQuery(.type(try ServiceType(type), .local))
        var graph = ServiceGraph(query, on: Self.interface)
        graph?.begin(&link, at: time)
        (self.link, self.graph) = (link, graph)
    }

    func shown() throws -> [Shown] { all }

    func stop() throws {
        guard !fault.neverEnds else { return }
        (link, graph, clock.outgoing, isUp) = (nil, nil, [], true)
    }

    func change(_ change: HostChange) throws {
        guard case .link(let isUp) = change else { return }
        self.isUp = isUp
        if isUp, !fault.ignoresLinks { link?.awoke(at: time) }
    }

    func start(_ services: [Service]) throws {}
    func update(port: UInt16, txt: [[UInt8]]) throws {}
    func withdraw(port: UInt16) throws {}
    func end(process: Int, by signal: Signal) throws {}
}

/// How that reference is made to break a rule. A value.
struct QuerierFault: RuleBreaking {
    typealias Alteration = @Sendable (Packet, VirtualQuerier) -> [Packet]

    let rule: Int
    var hears: Alteration = { packet, _ in [packet] }
    var says: Alteration = { packet, _ in [packet] }
    var shows: @Sendable (Shown) -> [Shown] = { [$0] }
    var believesAll = false
    var neverEnds = false
    var ignoresLinks = false

    init(_ rule: Int, _ alter: (inout QuerierFault) -> Void = { _ in }) {
        self.rule = rule
        alter(&self)
    }

    /// One for each rule that the value can break.
    static let all: [QuerierFault] = [
        said(101) { $0.flags.insert(.recursionDesired) },
        says(102) { packet, _ in [packet, packet.later(0.3)] },
        says(103) { packet, _ in packet.family == .ipv6 ? [] : [packet] },
        said(104) { $0.answers = [] },
        // It believes for ever.
        hearsRecords(105) { record in
            var record = record
            if record.ttl == 12 { record.ttl = 4500 }
            return record
        },
        said(106) { message in
            for place in message.answers.indices { message.answers[place].flushesCache = true }
        },
        hearsRecords(107) { record in
            var record = record
            if record.ttl == 20 { record.ttl = 4500 }
            return record
        },
        said(108) { $0.flags.remove(.truncated) },
        hearsRecords(109) { $0.type == .srv || $0.type == .txt ? nil : $0 },
        says(110) { packet, _ in packet.questions.contains { $0.type == .srv } ? [] : [packet] },
        QuerierFault(111) { $0.neverEnds = true },
        QuerierFault(112) { $0.ignoresLinks = true },
        hearsRecords(113) { record in
            var record = record
            if record.ttl == 6 { record.ttl = 4500 }
            return record
        },
        hearsRecords(114) { $0.ttl == 0 ? nil : $0 },
        hears(115) { packet, link in
            if packet.records.contains(where: { $0.ttl == 0 }) {
                link.isSad = true
                return [packet]
            }
            return link.isSad ? [] : [packet]
        },
        hearsRecords(116) { $0.port == 9200 ? nil : $0 },
        QuerierFault(117) { fault in
            fault.shows = {
                $0.name == "anna" ? [$0, Shown(at: $0.at, isThere: false, name: "tony", port: nil)] : [$0]
            }
        },
        QuerierFault(118) { $0.believesAll = true }, QuerierFault(119) { $0.believesAll = true },
        hears(120) { packet, _ in
            guard var message = packet.message else { return [packet] }
            message.flags = [.response]
            return [packet.with(message)]
        },
        hearsRecords(121) { $0.name.wire.contains(0x5F) && $0.name.wire.contains(0x43) ? nil : $0 },
        hears(122) { packet, link in
            if packet.message == nil { link.isDead = true }
            return [packet]
        },
        deaf(123) { $0.bytes.count > 1500 },
        deaf(124) { $0.isResponse },
        QuerierFault(125) { fault in
            fault.shows = { sighting in
                var other = sighting
                other.name = sighting.name.lowercased()
                return [other]
            }
        },
        deaf(127) { $0.isQuery },
        hearsRecords(129) { record in
            var record = record
            record.recordClass = .internet
            return record
        },
        hears(130) { packet, _ in
            packet.answers.contains { $0.type == .txt && $0.data != .txt([3, 0x61, 0x3D, 0x62]) } ? [] : [packet]
        },
        QuerierFault(131) { $0.shows = { $0.name.utf8.count == 63 ? [] : [$0] } },
        hears(132) { packet, _ in packet.answers.contains { $0.type.rawValue > 60 } ? [] : [packet] },
        hears(133) { packet, _ in packet.message?.edns == nil ? [packet] : [] },
        hears(134) { packet, _ in packet.family == .ipv6 ? [] : [packet] },
        hears(135) { packet, _ in packet.source.hardware == Station.far.hardware ? [] : [packet] },
        hears(136) { packet, _ in packet.message?.id == 0 ? [packet] : [] },
        hears(137) { packet, _ in packet.isResponse && !packet.questions.isEmpty ? [] : [packet] },
        // What is no answer is taken for one.
        hears(138) { packet, _ in packet.isQuery && !packet.answers.isEmpty ? [packet.asAnswer] : [packet] },
        hears(139) { packet, _ in packet.isProbe ? [packet.asAnswer] : [packet] },
        deaf(140) { $0.message?.flags.contains(.truncated) == true },
        heard(141) { $0.additionals = [] },
        says(142) { packet, _ in packet.questions.contains { $0.type == .a || $0.type == .aaaa } ? [] : [packet] },
        QuerierFault(143) { fault in
            fault.shows = { $0.isThere ? [$0] : [$0, Shown(at: $0.at, isThere: false, name: "tony", port: nil)] }
        },
        hearsRecords(144) { record in
            var record = record
            record.ttl = 120
            return record
        },
        hearsRecords(145) { record in
            var record = record
            if record.ttl > UInt32(Int32.max) { record.ttl = 4500 }
            return record
        },
        deaf(146) { $0.isQuery },
        hearsRecords(147) { record in
            var record = record
            if record.ttl == 40 { record.ttl = 4500 }
            return record
        },
        said(148) { message in
            for place in message.questions.indices {
                message.questions[place].recordClass = RecordClass(rawValue: 3)
            }
        },
        said(149) { message in
            for place in message.questions.indices { message.questions[place].wantsUnicastResponse = true }
        },
        said(150) {
            if $0.questions.isEmpty {
                $0.questions = [Question(DomainName(["_conf", "_tcp"], in: .local) ?? .root, .ptr)]
            }
        },
        said(151) { message in
            guard !message.answers.isEmpty else { return }
            message.answers.append(ResourceRecord(.root, .a, .a(1), ttl: 120))
        },
        said(152) { message in
            for place in message.answers.indices { message.answers[place].ttl = 40 }
        },
        // What it has heard once it does not hear again.
        hears(153) { packet, link in
            guard packet.isResponse, packet.family == .ipv4 else { return packet.isResponse ? [] : [packet] }
            defer { link.isSad = true }
            return link.isSad ? [] : [packet]
        },
        hearsRecords(154) { $0.ttl == 5 ? nil : $0 },
        QuerierFault(155) { fault in
            fault.shows = {
                $0.name == "anna" ? [$0, Shown(at: $0.at, isThere: false, name: "tony", port: nil)] : [$0]
            }
        },
        hearsRecords(156) { record in
            var record = record
            if record.ttl == 20 { record.ttl = 4500 }
            return record
        },
        says(157) { packet, _ in
            packet.changed { message in
                if let host = DomainName(["played-1"], in: .local) { message.questions.append(Question(host, .aaaa)) }
            }
        },
        hearsRecords(158) { record in
            var record = record
            guard case .ptr(let name) = record.data, let first = name.labels.first,
                let type = DomainName(["_conf", "_tcp"], in: .local), !name.isWithin(type),
                let other = try? DomainName(labels: [Array(first)] + type.labels.map(Array.init))
            else { return record }
            record.data = .ptr(other)
            return record
        },
        hears(159) { packet, _ in
            guard let short = try? packet.message?.written(compression: .multicast) else { return [packet] }
            return packet.bytes.count > short.count ? [] : [packet]
        },
        says(160) { packet, _ in [packet.with(bytes: Array(packet.bytes.dropLast()))] },
        said(161) { $0.questions += $0.questions },
        said(162) { message in
            guard let type = DomainName(["_other", "_tcp"], in: .local), !message.answers.isEmpty else { return }
            message.answers.append(ResourceRecord(type, .ptr, .ptr(type), ttl: 4500))
        },
    ]
}

extension Packet {
    /// As if what it says were said in a response.
    fileprivate var asAnswer: Packet {
        changed { message in
            message.flags = [.response, .authoritative]
            (message.answers, message.authorities) = (message.answers + message.authorities, [])
        }.first ?? self
    }
}

extension ResourceRecord {
    /// Of a SRV record.
    fileprivate var port: UInt16? { if case .srv(_, _, let port, _) = data { port } else { nil } }
}
