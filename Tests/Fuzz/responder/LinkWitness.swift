import DNSMessage
import DNSSD

/// What a responder was told and has said, and whether it may (docs/decisions/0081-a-responder-of-our-own.md).
struct LinkWitness {
    private struct Heard: Hashable {
        let family: IPAddress.Family
        let name: DomainName
        let type: RecordType
        let data: RecordData
    }

    let limit: Int
    /// How often programs or the system changed something.
    private var changes = 0
    /// When a probe came at last, and when what makes records be said anew: a change, or what somebody says of them.
    private var probed: Duration?
    private var stirred: Duration?
    /// The questions for which each host may get a packet.
    private var asked: [LinkResponder.Outgoing.Host: Int] = [:]
    private var answered: [Heard: [Duration]] = [:]
    private var probes: [IPAddress.Family: [Duration]] = [:]
    private var packets: [IPAddress.Family: [Duration]] = [:]
    private var alone: [(at: Duration, source: IPAddress, bytes: Int)] = []
    private var last: [ResourceRecord] = []
    /// The names of which somebody has said something.
    private(set) var denied: Set<DomainName> = []
    /// Names of services for which others have probed.
    private(set) var wanted: Set<DomainName> = []

    init(limit: Int) { self.limit = limit }

    mutating func changes(at now: Duration) {
        changes += 1
        stirred = now
    }

    mutating func hears(_ message: Message, _ arrival: MessageSource, at now: Duration) {
        guard message.flags.contains(.response) else {
            if !message.authorities.isEmpty { probed = now }
            if arrival.port == MessageSource.port, arrival.audience != .machine || arrival.isOnLink {
                wanted.formUnion(message.authorities.filter { $0.type == .srv }.map(\.name))
            }
            if arrival.isOnLink { asked[.init(address: arrival.source, port: arrival.port), default: 0] += 1 }
            return
        }
        guard arrival.port == MessageSource.port, arrival.audience != .machine || arrival.isOnLink else { return }
        stirred = now
        denied.formUnion((message.answers + message.authorities + message.additionals).map(\.name))
    }

    mutating func forget() { last = [] }

    func said(_ record: ResourceRecord) -> Bool { last.contains(record) }

    mutating func sees(_ packet: LinkResponder.Outgoing, at now: Duration) {
        guard let message = try? Message(reading: packet.bytes) else { fatalError("it says what cannot be read") }
        let most = message.questions.count <= 1 && message.answers.count <= 1 ? Message.maximumMulticastLength : limit
        check(packet.bytes.count <= most, "\(packet.bytes.count) bytes")
        if let host = packet.host { return seesReply(packet.bytes.count, host, at: now) }
        check(Self.add(now, to: &packets[packet.family, default: []], within: .seconds(1)) <= 688, "packets a second")
        guard message.flags.contains(.response) else {
            let count = Self.add(now, to: &probes[packet.family, default: []], within: .seconds(10))
            check(count <= 200 + changes * 4, "\(count) probes in ten seconds")
            return
        }
        last += message.answers
        for record in message.answers + message.additionals where record.ttl > 0 {
            let key = Heard(family: packet.family, name: record.name, type: record.type, data: record.data)
            if let before = answered[key]?.last {
                check(isLate(now - before, at: now), "\(record.name) after \(now - before)")
            }
            let count = Self.add(now, to: &answered[key, default: []], within: .seconds(1))
            check(count <= 6, "\(record.name) \(record.type) \(count) times a second")
        }
    }

    /// Whether a record may be said again after such a time: a second, a quarter of it for a probe, whose answer waits a second for another one
    /// at most. What is stirred up may be probed for anew, seconds later.
    private func isLate(_ gap: Duration, at now: Duration) -> Bool {
        gap >= .seconds(1) || stirred.map { now - $0 < .seconds(8) } ?? false
            || gap >= .milliseconds(250) && probed.map { now - $0 < .seconds(2) } ?? false
    }

    /// One packet for a question, of 512 bytes for a resolver; within a second two windows of the budget.
    private mutating func seesReply(_ bytes: Int, _ host: LinkResponder.Outgoing.Host, at now: Duration) {
        guard let count = asked[host], count > 0 else { fatalError("\(host) gets what it did not ask for") }
        asked[host] = count - 1
        check(host.port == MessageSource.port || bytes <= 512, "\(bytes) bytes for a resolver")
        alone.removeAll { now - $0.at >= .seconds(1) }
        alone.append((now, host.address, bytes))
        check(alone.reduce(0) { $0 + ($1.source == host.address ? $1.bytes : 0) } <= 2 * 16_384, "too much for a host")
        check(alone.reduce(0) { $0 + $1.bytes } <= 2 * 262_144, "too much for all hosts")
    }

    private static func add(_ now: Duration, to times: inout [Duration], within window: Duration) -> Int {
        times.removeAll { now - $0 >= window }
        times.append(now)
        return times.count
    }

    // MARK: Growth

    /// The most elements of a collection in the values that hold what others caused, by its name; of others, as many as there are records.
    private static let most = [
        "replies": 64, "held": 64, "conflicts": 16, "sources": 256, "packets": 2000, "direct": 0, "farewells": 2,
    ]

    /// Looks at all collections, of private properties, too.
    func measures(_ responder: LinkResponder) {
        let records = responder.owned.count + responder.claims.count * 12
        let values: [Any] = [
            responder.probing, responder.announcing, responder.budget, responder.answering, responder.paced,
        ]
        for value in values { measure(value, "", records) }
    }

    private func measure(_ value: Any, _ name: String, _ records: Int) {
        if value is [UInt8] || value is DomainName { return }
        let mirror = Mirror(reflecting: value)
        if [.collection, .dictionary, .set].contains(mirror.displayStyle) {
            check(mirror.children.count <= Self.most[name] ?? records, "\(mirror.children.count) of \(name)")
        }
        for child in mirror.children { measure(child.value, child.label ?? name, records) }
    }
}
