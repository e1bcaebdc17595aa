import DNSMessage
import DNSSD

/// A server's answer, read for a finder of services.
struct AnswerReading: Hashable, Sendable {
    /// The answer to the question.
    enum Outcome: Hashable, Sendable {
        /// The records; at least one.
        case records([RecordData], ttl: Duration)
        /// There are no such records; the name may have others (RFC 2308 §2).
        case nothing(nameExists: Bool, ttl: Duration)
        /// The question is not answered; the reason is for people.
        case failure(String)
    }

    /// The version of the zone that contains the name.
    struct Zone: Hashable, Sendable {
        var apex: DomainName
        var serial: UInt32
        /// How long a resolver may repeat it.
        var ttl: Duration
    }

    /// Who answered, and what vouches for the answer.
    struct Origin: Hashable, Sendable {
        var server: ServerAddress?
        /// Whether the zone's own server answered, rather than a cache (AA).
        var isAuthoritative = false
        /// Whether DNSSEC vouches for the answer; it never does for the additional records (RFC 4035 §3.2.3).
        var isAuthenticated = false
    }

    var outcome: Outcome
    var origin = Origin()
    var zone: Zone?
    /// Other records that came with the answer.
    var additionals: [Question: Outcome] = [:]

    /// Creates the reading of an answer that did not come.
    init(failure: DNSFailure) {
        outcome =
            switch failure {
            case .silent(let reason), .system(let reason), .impossible(let reason): .failure(reason)
            }
    }

    init(outcome: Outcome, origin: Origin = Origin()) { (self.outcome, self.origin) = (outcome, origin) }
}

extension AnswerReading {
    /// The most CNAME records that are followed within one answer.
    private static var longestChain: Int { 8 }
    /// How long a negative answer without SOA holds.
    private static var silentTTL: Duration { .seconds(30) }

    init(_ answer: DNSAnswer, to question: Question) {
        let message = answer.message
        let (name, records) = Self.records(for: question, in: message.answers)
        let isReferral = message.answers.isEmpty && message.authorities.contains { $0.type == .ns }
        outcome = .failure("")
        origin = Origin(
            server: answer.server, isAuthoritative: message.flags.contains(.authoritative),
            isAuthenticated: answer.isAuthenticated)
        zone = Self.zone(of: name, in: message)
        switch message.responseCode {
        case 0 where !records.isEmpty: outcome = .records(records.kept(of: question.type), ttl: records.shortestTTL)
        case 0 where isReferral && zone == nil:
            outcome = .failure(
                "the DNS server \(answer.server) does not serve \(question.name.presentation), and asks no others")
        case 0: outcome = .nothing(nameExists: true, ttl: zone?.ttl ?? Self.silentTTL)
        case 3: outcome = .nothing(nameExists: false, ttl: zone?.ttl ?? Self.silentTTL)
        default: outcome = .failure(Self.refusal(message.responseCode, by: answer.server, of: question))
        }
        for (other, records) in Dictionary(grouping: message.additionals, by: { Question($0.name, $0.type) }) {
            guard [.srv, .txt, .a, .aaaa].contains(other.type) else { continue }
            let kept = records.kept(of: other.type)
            if !kept.isEmpty { additionals[other] = .records(kept, ttl: records.shortestTTL) }
        }
    }

    /// Returns the records asked for and the name that owns them, following CNAME records (RFC 1034 §3.6.2).
    private static func records(
        for question: Question, in answers: [ResourceRecord]
    ) -> (DomainName, [ResourceRecord]) {
        var name = question.name
        for _ in 0..<longestChain {
            let own = answers.filter { $0.name == name && $0.recordClass == .internet }
            // A DHCID record's data has no form of its own.
            let records = own.filter { $0.type == question.type && (!$0.isUnreadable || $0.type == .dhcid) }
            guard records.isEmpty, case .cname(let next) = own.first(where: { $0.type == .cname })?.data else {
                return (name, records)
            }
            name = next
        }
        return (name, [])
    }

    private static func zone(of name: DomainName, in message: Message) -> Zone? {
        for record in message.answers + message.authorities {
            guard case .soa(let start) = record.data, name.isWithin(record.name) else { continue }
            // In the authority section SOA gives the TTL of a negative answer (RFC 2308 §3).
            let isAnswer = message.answers.contains(record)
            let ttl = isAnswer ? record.ttl : min(record.ttl, start.minimum)
            return Zone(apex: record.name, serial: start.serial, ttl: .seconds(Int64(ttl)))
        }
        return nil
    }

    private static func refusal(_ code: UInt16, by server: ServerAddress, of question: Question) -> String {
        switch code {
        case 2:
            "the DNS server \(server) cannot answer for \(question.name.presentation) (SERVFAIL)"
                + (question.type == .ptr ? "; more than 100 services of one type may be the reason" : "")
        case 5: "the DNS server \(server) refuses to answer for \(question.name.presentation) (REFUSED)"
        default: "the DNS server \(server) answers for \(question.name.presentation) with error \(code)"
        }
    }
}

extension ResourceRecord {
    /// Whether its data breaks the format of its type.
    fileprivate var isUnreadable: Bool { if case .other = data { true } else { false } }
}

extension [ResourceRecord] {
    fileprivate var shortestTTL: Duration { .seconds(Int64(map(\.ttl).min() ?? 0)) }

    /// Returns the data of records of one type and name, as far as it is of use: whoever fills a zone decides how much there is. Lists are whole.
    fileprivate func kept(of type: RecordType) -> [RecordData] {
        switch type {
        case .ptr: map(\.data)
        // Of several the same one counts, whatever their order, and they are not merged (RFC 6763 §6.8).
        case .txt:
            compactMap(\.data.shortenedText).min { $0.lexicographicallyPrecedes($1) }.map { [RecordData.txt($0)] } ?? []
        // Several times as many as one host or service has for others.
        default: prefix(64).map(\.data)
        }
    }
}

extension RecordData {
    /// The data of a TXT record up to the string with which it is too long, which says that it was; nil for other records.
    fileprivate var shortenedText: [UInt8]? {
        guard case .txt(let text) = self else { return nil }
        guard text.count > TXTRecord.maximumWireSize else { return text }
        var end = 0
        while end <= TXTRecord.maximumWireSize, end < text.count { end += 1 + Int(text[end]) }
        return Array(text.prefix(end))
    }
}
