import DNSMessage
import DNSSD
import Testing

@testable import Responder

/// A link's responder, driven by virtual time, and what it sent.
struct Bench {
    struct Sent {
        let at: Duration
        let message: Message
        let size: Int
        let family: IPAddress.Family
        let host: LinkResponder.Outgoing.Host?

        var isResponse: Bool { message.flags.contains(.response) }
        var records: [ResourceRecord] { message.answers + message.additionals }
    }

    static let host = name("h1.local")
    static let type = name("_witap._tcp.local")
    static let tony = name("tony._witap._tcp.local")
    static let neighbour = IPAddress.v4(IPv4Address(bits: 0x0A00_0002))
    static let own = IPAddress.v4(IPv4Address(bits: 0x0A00_0001))

    var responder: LinkResponder
    private(set) var sent: [Sent] = []
    private(set) var facts: [LinkResponder.Fact] = []
    private(set) var now = Duration.seconds(1000)

    init(mtu: Int = 1500, families: Set<IPAddress.Family> = [.ipv4], seed: UInt64 = 1) {
        responder = LinkResponder(mtu: mtu, random: SeededGenerator(seed: seed))
        responder.use(families, at: now)
        responder.machine = [Self.own]
    }

    /// With the host and one service established, and their announcements over.
    static func established(_ services: [String] = ["tony"], families: Set<IPAddress.Family> = [.ipv4]) throws -> Bench
    {
        var bench = Bench(families: families)
        bench.claimHost()
        for (number, service) in services.enumerated() { try bench.publish(service, number: UInt64(number + 1)) }
        bench.pass(.seconds(10))
        bench.forget()
        return bench
    }

    static func name(_ text: String) -> DomainName { (try? DomainName(presentation: text)) ?? .root }

    mutating func claimHost(_ addresses: [IPAddress] = [Self.own], isProven: Bool = false) {
        responder.claim(.host, Claim(host: Self.host, addresses), isProven: isProven, at: now)
    }

    mutating func publish(
        _ text: String = "tony", number: UInt64 = 1, port: Int = 80, txt: TXTRecord = TXTRecord(),
        subtypes: [String] = [], over family: IPAddress.Family? = nil, isProven: Bool = false
    ) throws {
        var service = try OfferedService(
            name: text, type: "_witap._tcp", port: port, txt: txt, subtypes: subtypes)
        service.family = family
        let claim = try #require(Claim(service, as: service.name, number: number))
        responder.claim(.service(number), claim, isProven: isProven, at: now)
    }

    mutating func hear(
        _ message: Message, from source: IPAddress = Self.neighbour, port: UInt16 = 5353,
        to audience: MessageSource.Audience = .group,
        isOnLink: Bool = true, isFromHere: Bool = false, over family: IPAddress.Family = .ipv4
    ) {
        let source = MessageSource(
            family, from: source, port: port, to: audience, isOnLink: isOnLink, isFromHere: isFromHere)
        responder.heard(message, source, at: now)
        collect()
    }

    mutating func ask(_ questions: [Question], known: [ResourceRecord] = [], flags: Message.Flags = []) {
        hear(Message(flags: flags, questions: questions, answers: known))
    }

    /// Lets time pass, and has everything happen when it is due.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        collect()
        while let due = responder.deadline(at: now), due <= end {
            now = max(now, due)
            collect()
        }
        now = end
    }

    private mutating func collect() {
        var turns = 0
        while let due = responder.deadline(at: now), due <= now, turns < 1000 {
            turns += 1
            for packet in responder.packets(at: now) {
                guard let message = try? Message(reading: packet.bytes) else {
                    Issue.record("not a message")
                    continue
                }
                sent.append(
                    Sent(at: now, message: message, size: packet.bytes.count, family: packet.family, host: packet.host))
            }
            facts += responder.takeFacts()
        }
        facts += responder.takeFacts()
        #expect(turns < 1000, "it never comes to rest")
    }

    mutating func forget() { (sent, facts) = ([], []) }

    var probes: [Sent] { sent.filter { !$0.isResponse } }
    var responses: [Sent] { sent.filter(\.isResponse) }
    /// Everything that was said, in order.
    var said: [ResourceRecord] { responses.flatMap(\.records) }

    func said(_ name: DomainName, _ type: RecordType) -> [ResourceRecord] {
        said.filter { $0.name == name && $0.type == type }
    }
}

/// What another host says of tony.
enum Other {
    static func srv(port: UInt16 = 99, ttl: UInt32 = 120) -> ResourceRecord {
        ResourceRecord(
            Bench.tony, .srv, .srv(priority: 0, weight: 0, port: port, target: Bench.name("h2.local")), ttl: ttl,
            flushesCache: true)
    }

    static func response(_ records: ResourceRecord...) -> Message {
        Message(flags: [.response, .authoritative], answers: records)
    }

    static func probe(_ records: ResourceRecord...) -> Message {
        Message(questions: [Question(records[0].name, .any)], authorities: records)
    }
}
