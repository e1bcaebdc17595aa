package import DNSMessage

/// One-shot questions (RFC 6762 §5.1): what a caller waits for, and multicast has not answered, is asked for once more, from
/// a port of its own; so is each list, twice, because a packet may be lost.
///
/// A responder multicasts nothing twice in a second (§6), but answers such a question at once, by unicast (§6.7). Some, as
/// hashicorp/mdns, answer no other. A value: receives events with their times.
package struct OneShotQuestions: Sendable {
    /// How long a multicast answer may take before a one-shot question is sent.
    static let patience = Duration.milliseconds(10)
    /// The same for a list: most of those who answer the group have done so, and one that lists more than fits such an answer is not asked so.
    static let listPatience = Duration.milliseconds(120)
    /// When a list is asked for again, or where there was no place for its packet.
    private static let listInterval = Duration.milliseconds(40)
    /// How long answers are accepted.
    static let lifetime = Duration.seconds(2)
    /// How long a responder that has answered by unicast is probably silent by multicast.
    private static let silence = Duration.seconds(1)
    /// The most records of one answer that are accepted.
    private static let mostRecords = 64
    /// The largest TTL in such an answer, in seconds (§6.7).
    private static let longestTTL: UInt32 = 10

    /// Why a question is asked so.
    package enum Purpose: Hashable, Sendable {
        /// A caller waits for what is not known.
        case missing
        /// It is known, and may be no longer true.
        case confirmation
        /// Those who answer only so are to be listed, too.
        case list

        /// The most questions that wait or are open; further ones are asked by multicast alone. None takes another's place.
        package var limit: Int {
            switch self {
            case .missing: 32
            // Sixteen services of a host.
            case .confirmation: 18
            case .list: 256
            }
        }

        fileprivate var patience: Duration {
            switch self {
            case .missing: OneShotQuestions.patience
            case .confirmation: .zero
            case .list: OneShotQuestions.listPatience
            }
        }
    }

    private struct Waiting {
        let key: RecordKey
        let purpose: Purpose
        let due: Duration
        /// Of a list: whether it is asked for the first time.
        var way = ListAnswers.Way.first
    }

    private struct Open {
        /// What the question asks for.
        let key: RecordKey
        /// What it was asked for: another key where hosts are asked for a list by themselves.
        let wanted: RecordKey
        let purpose: Purpose
        let id: UInt16
        let end: Duration
        let way: ListAnswers.Way
        var isAnswered = false
    }

    private var waiting: [Waiting] = []
    private var open: [Open] = []
    private var lastAnswer: Duration?
    private var random: any RandomNumberGenerator & Sendable

    /// Creates a value without questions.
    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.random = random }

    /// Whether a question awaits its answer.
    package var isOpen: Bool { !open.isEmpty }

    /// When to call `packets`; nil for never.
    package var deadline: Duration? { (waiting.map(\.due) + open.map(\.end)).min() }

    /// Asks for the records of a key, unless its question waits or is open. A list is asked for twice, whoever else waits for one answer of it.
    package mutating func ask(_ key: RecordKey, _ purpose: Purpose = .missing, at now: Duration) {
        func counts(_ other: Purpose) -> Bool { purpose != .list || other == .list }
        let isKnown =
            waiting.contains { $0.key == key && counts($0.purpose) }
            || open.contains { $0.wanted == key && $0.end > now && counts($0.purpose) }
        let count = waiting.count { $0.purpose == purpose } + open.count { $0.purpose == purpose }
        guard !isKnown, count < purpose.limit else { return }
        let isSilent = purpose == .missing && lastAnswer.map { now - $0 < Self.silence } ?? false
        waiting.append(Waiting(key: key, purpose: purpose, due: isSilent ? now : now + purpose.patience))
    }

    /// Whether a question was asked less than two seconds ago, and no one has answered it.
    package func isUnanswered(_ key: RecordKey) -> Bool { open.contains { $0.key == key && !$0.isAnswered } }

    /// Whether a question was asked less than two seconds ago, and someone has answered it.
    package func isAnswered(_ key: RecordKey) -> Bool { open.contains { $0.key == key && $0.isAnswered } }

    /// Nobody wants a list any more.
    mutating func drop(list key: RecordKey) {
        waiting.removeAll { $0.key == key && $0.purpose == .list }
        open.removeAll { $0.wanted == key && $0.purpose == .list }
    }

    /// Whether a list is still to be asked for.
    func waits(forList key: RecordKey) -> Bool { waiting.contains { $0.key == key && $0.purpose == .list } }

    /// What was asked a moment ago for a list, and as which way.
    func asked(forList key: RecordKey) -> [(key: RecordKey, way: ListAnswers.Way)] {
        open.filter { $0.wanted == key && $0.purpose == .list }.map { ($0.key, $0.way) }
    }

    /// Returns the packets to send now, each with one question: a responder leaves out what exceeds 512 bytes.
    /// - Parameters:
    ///   - now: the time.
    ///   - question: returns what to ask for a key; nil if it is not needed any more.
    ///   - mayLeave: takes the place of one packet; returns false if there is none.
    package mutating func packets(
        at now: Duration, question: (RecordKey, Purpose) -> RecordKey?, mayLeave: () -> Bool
    ) -> [[UInt8]] {
        open.removeAll { $0.end <= now }
        let due = waiting.filter { $0.due <= now }
        waiting.removeAll { $0.due <= now }
        return due.compactMap { asked in
            let (key, purpose) = (asked.key, asked.purpose)
            guard let question = question(key, purpose) else { return nil }
            guard mayLeave() else {
                if purpose == .list {
                    waiting.append(
                        Waiting(
                            key: key, purpose: purpose, due: now + Self.listInterval, way: asked.way))
                }
                return nil
            }
            let id = newID()
            var writer = MessageWriter(id: id, limit: QuestionPackets.length, compression: .multicast)
            guard writer.add(Question(question.name, question.type)) else { return nil }
            open.append(
                Open(
                    key: question, wanted: key, purpose: purpose, id: id, end: now + Self.lifetime, way: asked.way))
            if purpose == .list, asked.way == .first {
                waiting.append(Waiting(key: key, purpose: purpose, due: now + Self.listInterval, way: .again))
            }
            return writer.bytes
        }
    }

    /// Returns an id that no open question has.
    private mutating func newID() -> UInt16 {
        while true {
            let id = UInt16.random(in: 1 ... .max, using: &random)
            if !open.contains(where: { $0.id == id }) { return id }
        }
    }

    /// Processes an answer from port 5353 of a host on the link.
    /// - Returns: its records for the name in question and that name's hosts; empty if it answers no open question.
    package mutating func received(_ message: Message, at now: Duration) -> [ResourceRecord] {
        guard let place = place(answeredBy: message, at: now) else { return [] }
        let asked = open[place].key
        let believed = Self.records(about: asked, in: message)
        if !believed.isEmpty { lastAnswer = now }
        open[place].isAnswered = open[place].isAnswered || believed.contains { $0.type == asked.type }
        return believed.map { record in
            var record = record
            record.ttl = min(record.ttl, Self.longestTTL)
            record.flushesCache = false
            return record
        }
    }

    /// Returns the open question that a message answers, for which key it was asked, and when.
    func question(answeredBy message: Message, at now: Duration) -> (
        key: RecordKey, wanted: RecordKey, way: ListAnswers.Way, time: Duration
    )? {
        place(answeredBy: message, at: now).map {
            (open[$0].key, open[$0].wanted, open[$0].way, open[$0].end - Self.lifetime)
        }
    }

    private func place(answeredBy message: Message, at now: Duration) -> Int? {
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0,
            let place = open.firstIndex(where: { $0.id == message.id && $0.end > now }),
            message.questions.count == 1, let question = message.questions.first,
            RecordKey(question.name, question.type) == open[place].key, question.recordClass == .internet
        else { return nil }
        return place
    }

    /// Processes an answer from port 5353 of a host on the link that has the form of a multicast one: without id and
    /// question. Its records have their full lives.
    /// - Returns: as of `received`.
    package mutating func receivedWithoutQuestion(_ message: Message, at now: Duration) -> [ResourceRecord] {
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0, message.id == 0,
            message.questions.isEmpty
        else { return [] }
        // It does not say which question it answers, and may answer several: one of them may be open for a name of the other's answer.
        var believed: [ResourceRecord] = []
        var known: Set<ResourceRecord> = []
        for place in open.indices where open[place].end > now && open[place].key == open[place].wanted {
            let asked = open[place].key
            let records = Self.records(about: asked, in: message)
            guard records.contains(where: { $0.name == asked.name && $0.type == asked.type }) else { continue }
            open[place].isAnswered = true
            for record in records where known.insert(record).inserted { believed.append(record) }
        }
        return believed
    }

    /// The records that answer a question and follow from the answer: a list's services, and hosts.
    static func records(
        about asked: RecordKey, in message: Message, atMost limit: Int = mostRecords
    ) -> [ResourceRecord] {
        let records = (message.answers + message.additionals).prefix(limit).filter { record in
            // RFC 2181 §8: a TTL with its top bit set is zero.
            (1...UInt32(Int32.max)).contains(record.ttl)
                && (record.type != .ptr || RecordKey(record.name, record.type) == asked)
        }
        var names: Set = [asked.name]
        for case .ptr(let name) in records.map(\.data) { names.insert(name) }
        for record in records where record.name == asked.name {
            if case .cname(let name) = record.data { names.insert(name) }
        }
        for record in records where names.contains(record.name) {
            if case .srv(_, _, _, let host) = record.data { names.insert(host) }
        }
        return records.filter { names.contains($0.name) }
    }
}
