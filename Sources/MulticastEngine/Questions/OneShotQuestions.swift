package import DNSMessage

/// One-shot questions (RFC 6762 §5.1): a name for which a caller waits, and which multicast has not answered, is asked
/// for once more, from a port of its own.
///
/// A responder multicasts nothing twice in a second (§6), but answers such a question at once, by unicast (§6.7). A
/// value: receives events with their times.
package struct OneShotQuestions: Sendable {
    /// How long a multicast answer may take before a one-shot question is sent.
    static let patience = Duration.milliseconds(10)
    /// How long answers are accepted.
    static let lifetime = Duration.seconds(2)
    /// The most questions that wait or are open; further ones are asked by multicast alone.
    static let limit = 32
    /// How long a responder that has answered by unicast is probably silent by multicast.
    private static let silence = Duration.seconds(1)
    /// The most records of one answer that are accepted.
    private static let mostRecords = 64
    /// The largest TTL in such an answer, in seconds (§6.7).
    private static let longestTTL: UInt32 = 10

    private struct Open {
        let key: RecordKey
        let id: UInt16
        let end: Duration
    }

    private var waiting: [(key: RecordKey, due: Duration)] = []
    private var open: [Open] = []
    private var lastAnswer: Duration?
    private var random: any RandomNumberGenerator & Sendable

    /// Creates a value without questions.
    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.random = random }

    /// Whether a question awaits its answer.
    package var isOpen: Bool { !open.isEmpty }

    /// When to call `packets`; nil for never.
    package var deadline: Duration? { (waiting.map(\.due) + open.map(\.end)).min() }

    /// Asks for the records of a key, unless its question waits or is open.
    package mutating func ask(_ key: RecordKey, at now: Duration) {
        let isKnown = waiting.contains { $0.key == key } || open.contains { $0.key == key && $0.end > now }
        guard !isKnown, waiting.count + open.count < Self.limit else { return }
        let isSilent = lastAnswer.map { now - $0 < Self.silence } ?? false
        waiting.append((key, isSilent ? now : now + Self.patience))
    }

    /// Returns the packets to send now, each with one question: a responder leaves out what exceeds 512 bytes.
    /// - Parameters:
    ///   - now: the time.
    ///   - isMissing: returns whether a key still has no answer.
    ///   - mayLeave: takes the place of one packet; returns false if there is none.
    package mutating func packets(
        at now: Duration, isMissing: (RecordKey) -> Bool, mayLeave: () -> Bool
    ) -> [[UInt8]] {
        open.removeAll { $0.end <= now }
        let due = waiting.filter { $0.due <= now }.map(\.key)
        waiting.removeAll { $0.due <= now }
        return due.compactMap { key in
            guard isMissing(key), mayLeave() else { return nil }
            let id = newID()
            var writer = MessageWriter(id: id, limit: QuestionPackets.length, compression: .multicast)
            guard writer.add(Question(key.name, key.type)) else { return nil }
            open.append(Open(key: key, id: id, end: now + Self.lifetime))
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
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0,
            let asked = open.first(where: { $0.id == message.id && $0.end > now })?.key,
            message.questions.count == 1, let question = message.questions.first,
            RecordKey(question.name, question.type) == asked, question.recordClass == .internet
        else { return [] }
        let records = (message.answers + message.additionals).prefix(Self.mostRecords)
        let hosts = records.compactMap { record in
            if record.name == asked.name, case .srv(_, _, _, let host) = record.data { host } else { nil }
        }
        let names = Set(hosts + [asked.name])
        let believed = records.filter { names.contains($0.name) && !$0.type.isShared && $0.ttl > 0 }
        if !believed.isEmpty { lastAnswer = now }
        return believed.map { record in
            var record = record
            record.ttl = min(record.ttl, Self.longestTTL)
            record.flushesCache = false
            return record
        }
    }
}
