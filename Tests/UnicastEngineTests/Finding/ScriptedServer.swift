import DNSMessage
import DNSSD
import DiscoverySystem

@testable import UnicastEngine

/// A small DNS server: the zone home.example.org as a dictionary, asked without a network.
final class ScriptedServer: DNSExchange {
    struct Zone {
        var records: [Question: [RecordData]] = [:]
        var serial: UInt32 = 1
        var ttl: UInt32 = 60
        /// Also how long a "no" holds.
        var serialTTL: UInt32 = 10
        /// Answers come from the zone's own server, not out of a memory.
        var isAuthoritative = true
        var code: UInt16 = 0
        var failure: DNSFailure?
        /// Addresses are left out, as protection against rebinding does.
        var withholdsAddresses = false
        var sendsAdditionals = false
        /// DNSSEC vouches for answers, but for those of these types.
        var isAuthenticated = false
        var unauthenticated: Set<RecordType> = []
        var address: UInt32 = 0x0A35_0035
        var asked: [Question] = []
    }

    let zone = Locked(Zone())
    static let apex = name("home.example.org")

    var asked: [Question] { zone.withLock { $0.asked } }

    /// How many questions there were since the last call.
    func takeCount() -> Int {
        zone.withLock { zone in
            defer { zone.asked = [] }
            return zone.asked.count
        }
    }

    func change(_ body: (inout Zone) -> Void) {
        zone.withLock { zone in
            body(&zone)
            zone.serial += 1
        }
    }

    /// Adds a service with its host.
    func add(
        _ service: String, type: String = "_http._tcp", host: String = "h1", port: UInt16 = 80, text: String = "k=v"
    ) {
        change { zone in
            let list = name("\(type).home.example.org")
            let label = [UInt8](service.utf8)
            guard let instance = try? DomainName(labels: [label] + list.labels.map { Array($0) }) else { return }
            let target = name("\(host).home.example.org")
            zone.records[Question(list, .ptr), default: []].append(.ptr(instance))
            zone.records[Question(instance, .srv)] = [.srv(priority: 0, weight: 0, port: port, target: target)]
            zone.records[Question(instance, .txt)] = [.txt([UInt8(text.utf8.count)] + Array(text.utf8))]
            zone.records[Question(target, .a)] = [.a(0x0A35_0107)]
            zone.records[Question(target, .aaaa)] = [.aaaa(high: 0xFD53_0001_0000_0000, low: 7)]
        }
    }

    /// Takes a service out of the list, and its records away.
    func remove(_ service: String, type: String = "_http._tcp") {
        change { zone in
            let list = name("\(type).home.example.org")
            let instance = name("\(service).\(type).home.example.org")
            zone.records[Question(list, .ptr)]?.removeAll { $0 == .ptr(instance) }
            for kind in [RecordType.srv, .txt] { zone.records[Question(instance, kind)] = nil }
        }
    }

    func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
        try answer(question)
    }

    func answer(_ question: Question) throws(DNSFailure) -> DNSAnswer {
        let zone = zone.withLock { zone in
            zone.asked.append(question)
            return zone
        }
        if let failure = zone.failure { throw failure }
        var message = Message(flags: zone.isAuthoritative ? [.response, .authoritative] : [.response])
        message.flags = Message.Flags(rawValue: message.flags.rawValue | zone.code)
        let isHidden = zone.withholdsAddresses && [.a, .aaaa].contains(question.type)
        // Not the zone's own server's words.
        if isHidden { message.flags.subtract(.authoritative) }
        let records = isHidden ? [] : zone.records[question, default: []]
        message.answers = records.map { ResourceRecord(question.name, question.type, $0, ttl: zone.ttl) }
        if zone.sendsAdditionals, case .srv(_, _, _, let target) = records.first {
            for type in [RecordType.a, .aaaa] {
                message.additionals += zone.records[Question(target, type), default: []]
                    .map { ResourceRecord(target, type, $0, ttl: zone.ttl) }
            }
        }
        if records.isEmpty, zone.code == 0 {
            let exists = zone.records.contains { $0.key.name.isWithin(question.name) && !$0.value.isEmpty }
            if !exists { message.flags = Message.Flags(rawValue: message.flags.rawValue | 3) }
            let start = StartOfAuthority(
                primary: name("ns.home.example.org"), mailbox: name("hostmaster.home.example.org"),
                serial: zone.serial, refresh: 3600, retry: 600, expire: 86_400, minimum: zone.serialTTL)
            message.authorities = [ResourceRecord(Self.apex, .soa, .soa(start), ttl: 60)]
        }
        guard let port = Port(rawValue: 53) else { throw .impossible("no port") }
        return DNSAnswer(
            message: message, isAuthenticated: zone.isAuthenticated && !zone.unauthenticated.contains(question.type),
            server: ServerAddress(.v4(IPv4Address(bits: zone.address)), port: port))
    }

    func update(
        _ update: Message, at server: ServerAddress, key: TSIGKey?
    ) async throws(DNSFailure) -> UpdateAnswer { throw .impossible("not here") }
}

/// A name of labels without dots.
func name(_ text: String) -> DomainName {
    (try? DomainName(labels: text.split(separator: ".").map { Array($0.utf8) })) ?? .root
}
