import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Records

/// One link and one browse in virtual time: received records go in, facts and questions come out.
struct LinkStory {
    static let eth0 = NetworkInterface(index: 2, name: "eth0")

    var link: LinkQuerier
    private var browse: ServiceGraph
    private(set) var now = Duration.seconds(100)
    /// Questions sent, each with the milliseconds since the story began.
    private(set) var asked: [(after: Int, question: Question)] = []
    /// What was asked from a port of its own.
    private var oneShotMessages: [Message] = []
    var hasAnswer: Bool { browse.hasAnswer }
    var oneShots: [Question] { oneShotMessages.flatMap(\.questions) }
    private let start = Duration.seconds(100)

    /// - Parameters:
    ///   - limit: services that the browse keeps.
    ///   - link: the link, with what is known of it before.
    init(_ query: ServiceQuery, limit: Int = 22_528, link: LinkQuerier = .test()) throws {
        self.link = link
        guard let browse = ServiceGraph(query, on: Self.eth0, limit: limit) else { throw MessageError.invalidName }
        self.browse = browse
        self.browse.begin(&self.link, at: now)
    }

    /// Receives a response with these records.
    mutating func hear(
        _ records: [ResourceRecord], isOwn: Bool = false, from source: PacketSource = .asked
    ) -> [BrowseFact] {
        let message = Message(flags: [.response], answers: records)
        let changes = link.received(message, isOwn: isOwn, from: source, at: now)
        browse.changed(changes, &link, at: now)
        return browse.takeFacts()
    }

    /// Receives the answer with these records to the last question from a port of its own, of the type if one is said.
    mutating func hearOneShot(_ records: [ResourceRecord], to type: RecordType? = nil) -> [BrowseFact] {
        guard let asked = oneShotMessages.last(where: { type == nil || $0.questions.first?.type == type }) else {
            return []
        }
        let message = Message(id: asked.id, flags: [.response], questions: asked.questions, answers: records)
        browse.changed(link.receivedOneShot(message, isOwn: false, at: now), &link, at: now)
        return browse.takeFacts()
    }

    /// Receives a packet.
    mutating func hear(packet: [UInt8]) -> [BrowseFact] {
        guard let heard = HeardMessage(packet) else { return [] }
        browse.changed(link.received(heard.message, isOwn: false, at: now), &link, at: now)
        return browse.takeFacts()
    }

    /// Receives these records at the port of one-shot questions, without id and question.
    mutating func hearLone(_ records: [ResourceRecord]) -> [BrowseFact] {
        let message = Message(flags: [.response, .authoritative], answers: records)
        browse.changed(link.receivedOneShot(message, isOwn: false, at: now), &link, at: now)
        return browse.takeFacts()
    }

    /// Packets were lost.
    mutating func lose() { browse.lost(at: now) }

    /// Another host asks the group.
    mutating func hearQuestion(_ question: Question) {
        _ = link.received(Message(questions: [question]), isOwn: false, at: now)
    }

    /// Someone asks whether anybody has a name, for which this record is proposed (RFC 6762 §8.1).
    mutating func hearProbe(for record: ResourceRecord) {
        let question = Question(record.name, .any, wantsUnicastResponse: true)
        _ = link.received(Message(questions: [question], authorities: [record]), isOwn: false, at: now)
    }

    /// Time passes; what is due happens in its time.
    mutating func wait(milliseconds: Int) throws -> [BrowseFact] {
        let end = now + .milliseconds(milliseconds)
        var facts: [BrowseFact] = []
        while true {
            let next = [link.deadline(at: now), browse.deadline].compactMap(\.self).min().map { max($0, now) }
            guard let next, next <= end else { break }
            now = next
            browse.changed(link.advance(to: now), &link, at: now)
            browse.advance(to: now, &link)
            facts += browse.takeFacts()
            oneShotMessages += try link.oneShotPackets(at: now).map { try Message(reading: $0) }
            for packet in link.packets(at: now) {
                let after = (now - start).components
                let milliseconds = Int(after.seconds) * 1000 + Int(after.attoseconds / 1_000_000_000_000_000)
                asked += try Message(reading: packet).questions.map { (milliseconds, $0) }
            }
        }
        now = end
        return facts
    }

    /// There is room for so many services.
    mutating func keep(atMost limit: Int) -> [BrowseFact] {
        browse.keep(atMost: limit, &link, at: now)
        return browse.takeFacts()
    }

    mutating func hide() -> [BrowseFact] {
        browse.hide()
        return browse.takeFacts()
    }

    /// The record types asked for a name, except for the list, as "SRV A".
    func types(asked name: DomainName) -> [String] {
        asked.filter { $0.question.name == name }.map { "\($0.question.type)" }
    }
}

/// The records of tony on mac, as a responder sends them.
struct Tony {
    let type = DomainName(text: "_witap._tcp.local")
    let name = DomainName(text: "tony._witap._tcp.local")
    let host = DomainName(text: "mac.local")

    var pointer: ResourceRecord { pointer(to: name) }
    var address4: ResourceRecord { ResourceRecord(host, .a, .a(0x0A00_0001), ttl: 120, flushesCache: true) }
    var address6: ResourceRecord {
        ResourceRecord(host, .aaaa, .aaaa(high: 0xFE80 << 48, low: 1), ttl: 120, flushesCache: true)
    }
    var all: [ResourceRecord] { [pointer, service(), text("a=b"), address4, address6] }

    func pointer(to name: DomainName) -> ResourceRecord { ResourceRecord(type, .ptr, .ptr(name), ttl: 4500) }

    func service(on host: String = "mac.local", port: UInt16 = 9000) -> ResourceRecord {
        let data = RecordData.srv(priority: 0, weight: 0, port: port, target: DomainName(text: host))
        return ResourceRecord(name, .srv, data, ttl: 120, flushesCache: true)
    }

    func text(_ string: String) -> ResourceRecord {
        ResourceRecord(
            name, .txt, .txt([UInt8(string.utf8.count)] + Array(string.utf8)), ttl: 4500, flushesCache: true)
    }
}

/// Services by number, each on `mac.local` unless it is said otherwise.
struct Numbered {
    private let tony = Tony()

    func name(_ number: Int) -> DomainName { DomainName(text: "s\(number)._witap._tcp.local") }
    func pointer(_ number: Int) -> ResourceRecord { tony.pointer(to: name(number)) }

    func all(_ number: Int, on host: String = "mac.local") -> [ResourceRecord] {
        let target = DomainName(text: host)
        let data = RecordData.srv(priority: 0, weight: 0, port: 9000, target: target)
        return [
            pointer(number), ResourceRecord(name(number), .srv, data, ttl: 120),
            ResourceRecord(name(number), .txt, .txt([0]), ttl: 4500), ResourceRecord(target, .a, .a(1), ttl: 120),
            ResourceRecord(target, .aaaa, .aaaa(high: 0xFE80 << 48, low: 1), ttl: 120),
        ]
    }
}

extension DomainName {
    /// A name for tests, split at dots.
    init(text: String) {
        self = (try? DomainName(labels: text.split(separator: ".").map { Array($0.utf8) })) ?? .root
    }
}

extension ResourceRecord {
    /// The same record with TTL 0.
    var goodbye: ResourceRecord {
        var record = self
        record.ttl = 0
        return record
    }
}

extension BrowseFact {
    /// A fact in a word or two.
    var word: String {
        switch self {
        case .appeared(let sighting): "+\(sighting.instance.name)\(sighting.isOwn ? " own" : "")"
        case .disappeared(let sighting): "-\(sighting.instance.name)"
        case .withdrawn(let sighting): "withdrawn \(sighting.instance.name)"
        case .hidden(let sighting): "hidden \(sighting.instance.name)"
        case .resolved(let resolution):
            "\(resolution.instance.name)=\(resolution.targets.map { "\($0.host):\($0.port.map(\.rawValue) ?? 0)" }.joined(separator: ","))"
                + " \(resolution.addresses.map(\.description).joined(separator: ",")) \(resolution.txt.strings.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))"
        case .resolutionFailed(let instance, _): "failed \(instance.name)"
        case .merged(let service): "merged \(service.instance.name)"
        case .gone(let instance): "gone \(instance.name)"
        case .listed: "listed"
        case .backend: "backend"
        case .degraded: "degraded"
        }
    }
}
