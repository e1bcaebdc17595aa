package import DNSMessage
package import DNSSD

/// The records of a few names, asked of all links for a while. A value: it is given responses with their times, says what to send, and when
/// all is answered. Times count from its start.
///
/// Each question goes out from a port of its own, so that a responder answers at once whatever it has said before (RFC 6762 §6.7), and from the
/// second time on also from port 5353, for firewalls that let only that pass. An answer to a port of its own has a TTL of 10 s at most (§6.7): who
/// wants the real one asks from port 5353 at once, and waits for what is said to the group.
package struct RecordLookup: Inquirer {
    /// A record, and the link it was heard on.
    package struct Found: Sendable {
        package let record: ResourceRecord
        package let interface: NetworkInterface
        /// The TTL that its owner gives it; nil where only the shortened one was heard.
        package fileprivate(set) var ttl: UInt32?
    }

    /// When a question is asked that has no answer yet.
    private static let times: [Duration] = [.zero, .milliseconds(300), .seconds(1), .seconds(3), .seconds(9)]
    /// How long others may still answer after the last that did.
    private static let quiet = Duration.milliseconds(200)
    /// How long a type may lag behind another of its name.
    private static let lag = Duration.milliseconds(500)
    /// How long the owners of a shared name may take: a second question is among it.
    private static let sharing = Duration.milliseconds(1200)
    /// The most records that are kept.
    private static let mostRecords = 1024
    /// The longest TTL of an answer to a port of its own that follows RFC 6762 §6.7.
    private static let shortenedTTL: UInt32 = 10

    /// In the order in which they came.
    package private(set) var found: [Found] = []
    private let wantsTTL: Bool
    private let asked: [Question]
    /// The first question's; the others' follow.
    private let firstID = UInt16.random(in: 1...0x7000)
    private var sent = 0
    private var first: [DomainName: Duration] = [:]
    private var last: [DomainName: Duration] = [:]

    /// - Parameters:
    ///   - questions: at most 256; the others are left out.
    ///   - wantsTTL: the real TTLs are wanted, and what is sent to the group can be heard.
    package init(_ questions: [Question], wantsTTL: Bool = false) {
        (asked, self.wantsTTL) = (Array(questions.prefix(256)), wantsTTL)
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        guard sent < Self.times.count, Self.times[sent] <= now else { return [] }
        defer { sent += 1 }
        return asked.enumerated().filter { !isSettled($0.element, at: now) }.flatMap { index, question in
            let isShared = sent > 0 || wantsTTL
            return [
                OutgoingQuestion(question, id: firstID + UInt16(index), .group),
                isShared ? OutgoingQuestion(question, id: 0, .shared) : nil,
            ].compactMap(\.self)
        }
    }

    /// Whether everything is answered, as far as one can know.
    package func isOver(at now: Duration) -> Bool { asked.allSatisfy { isSettled($0, at: now) } }

    /// When to look again; nil for never.
    package func deadline(after now: Duration) -> Duration? {
        let ends = last.values.map { $0 + Self.quiet } + first.values.map { $0 + Self.lag }
        let next = sent < Self.times.count ? [Self.times[sent]] : []
        return (ends + next + [Self.sharing]).filter { $0 > now }.min()
    }

    private func isSettled(_ question: Question, at now: Duration) -> Bool {
        let name = question.name
        guard let first = first[name], let last = last[name], now - last >= Self.quiet else { return false }
        let isShared = question.type == .any || question.type == .ptr && !name.isReverse
        // Who has just said a record to the group repeats it after a second (RFC 6762 §6): the question at that time is for it.
        let lacksTTL = wantsTTL && found.contains { $0.ttl == nil && question.accepts($0.record) }
        if isShared || lacksTTL { return now >= Self.sharing }
        return now - first >= Self.lag || found.contains { question.accepts($0.record) }
    }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0 else { return }
        if arrival.way == .answer {
            // RFC 6762 §11: a unicast answer counts only if its source is on this link.
            guard arrival.place != .elsewhere else { return }
            let index = Int(message.id) - Int(firstID)
            guard asked.indices.contains(index), message.questions == [asked[index]] else { return }
        }
        for record in message.answers + message.additionals {
            for question in asked where question.name == record.name { note(record, for: question, arrival, at: now) }
        }
    }

    private mutating func note(
        _ record: ResourceRecord, for question: Question, _ arrival: Arrival, at now: Duration
    ) {
        guard question.accepts(record) else {
            // The owner says which types the name has (RFC 6762 §6.1).
            if case .nsec(_, let types) = record.data, question.type != .any, !types.contains(question.type) {
                answered(question.name, at: now)
            }
            return
        }
        let known = found.firstIndex { $0.record.isSame(as: record) && $0.interface == arrival.interface }
        if record.ttl == 0 {
            if let known { found.remove(at: known) }
            return
        }
        let ttl = arrival.way != .answer || record.ttl > Self.shortenedTTL ? record.ttl : nil
        if let known { found[known].ttl = found[known].ttl ?? ttl }
        guard known == nil, found.count < Self.mostRecords else { return }
        found.append(Found(record: record, interface: arrival.interface, ttl: ttl))
        answered(question.name, at: now)
    }

    private mutating func answered(_ name: DomainName, at now: Duration) {
        if first[name] == nil { first[name] = now }
        last[name] = now
    }
}

extension Question {
    /// Whether a record answers the question; an alias answers every one.
    fileprivate func accepts(_ record: ResourceRecord) -> Bool {
        record.name == name && record.recordClass == recordClass
            && (type == .any && record.type.isData || record.type == type || record.type == .cname)
    }
}

extension ResourceRecord {
    fileprivate func isSame(as other: ResourceRecord) -> Bool {
        name == other.name && type == other.type && data == other.data
    }
}
