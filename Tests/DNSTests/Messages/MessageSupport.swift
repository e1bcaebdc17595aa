import DNSMessage
import DNSSD
import Glibc

/// How often a property is tried: so often only in `make test-all`.
func rounds(_ all: Int) -> Int { getenv("TEST_ALL") == nil ? max(1, all / 5) : all }

extension SeededGenerator {
    /// Names that share suffixes, with odd bytes now and then.
    mutating func name() throws -> DomainName {
        let ends = ["_http._tcp.local", "local", "a.b.c", "_sub._ipp._tcp.example.org", ""]
        let end = ends.randomElement(using: &self) ?? ""
        var labels = end.split(separator: ".").map { Array($0.utf8) }
        for _ in 0..<Int.random(in: 0...2, using: &self) { labels.insert(bytes(1...20), at: 0) }
        return try DomainName(labels: labels)
    }

    mutating func record() throws -> ResourceRecord {
        let kinds: [(RecordType, RecordData)] = [
            (.a, .a(.random(in: 0 ... .max, using: &self))),
            (.aaaa, .aaaa(high: .random(in: 0 ... .max, using: &self), low: .random(in: 0 ... .max, using: &self))),
            (.ptr, .ptr(try name())), (.cname, .cname(try name())), (.ns, .ns(try name())),
            (
                .srv,
                .srv(
                    priority: .random(in: 0...9, using: &self), weight: .random(in: 0...9, using: &self),
                    port: .random(in: 0 ... .max, using: &self), target: try name())
            ),
            (.txt, .txt(try TextStrings.data(of: [bytes(0...255), bytes(0...3)]))),
            (.hinfo, .hinfo(cpu: bytes(0...9), os: bytes(0...9))),
            (.nsec, .nsec(next: try name(), types: [.a, .aaaa, .any, RecordType(rawValue: 0x0301)])),
            (
                .soa,
                .soa(
                    StartOfAuthority(
                        primary: try name(), mailbox: try name(), serial: .random(in: 0 ... .max, using: &self),
                        refresh: 1, retry: 2, expire: 3, minimum: .max))
            ),
            (RecordType(rawValue: 999), .other(bytes(0...40))),
        ]
        let (type, data) = kinds[Int.random(in: 0..<kinds.count, using: &self)]
        return ResourceRecord(
            try name(), type, data, ttl: .random(in: 0 ... .max, using: &self), flushesCache: .random(using: &self),
            recordClass: [.internet, .any, .none].randomElement(using: &self) ?? .internet)
    }

    mutating func message() throws -> Message {
        var message = Message(
            id: .random(in: 0 ... .max, using: &self),
            flags: Message.Flags(rawValue: .random(in: 0 ... .max, using: &self)))
        for _ in 0..<Int.random(in: 0...3, using: &self) {
            message.questions.append(Question(try name(), .any, wantsUnicastResponse: .random(using: &self)))
        }
        for _ in 0..<Int.random(in: 0...6, using: &self) { message.answers.append(try record()) }
        for _ in 0..<Int.random(in: 0...2, using: &self) { message.authorities.append(try record()) }
        for _ in 0..<Int.random(in: 0...4, using: &self) { message.additionals.append(try record()) }
        if Bool.random(using: &self) {
            message.edns = EDNS(
                payloadSize: 1232, extendedResponseCode: 1, flags: 0x8000,
                options: [EDNS.Option(code: 2, data: bytes(0...20))])
        }
        return message
    }
}

extension DomainName {
    /// A name of plain labels, separated by dots.
    init(_ text: String) throws { try self.init(labels: text.split(separator: ".").map { Array($0.utf8) }) }
}

extension [UInt8] {
    /// A header with these counts.
    static func header(_ questions: UInt8 = 0, _ answers: UInt8 = 0, flags: UInt8 = 0) -> [UInt8] {
        [0, 0, flags, 0, 0, questions, 0, answers, 0, 0, 0, 0]
    }
}
