package import DNSMessage

/// One-shot questions (RFC 6762 §5.1): a name that someone waits for and no one has answered by multicast is asked for once more, from a
/// port of its own.
///
/// A responder multicasts nothing twice in a second (§6), but answers such a question at once, by unicast (§6.7). A value that is told an
/// event and a time.
package struct OneShotQuestions: Sendable {
    /// How long a multicast answer may take.
    static let patience = Duration.milliseconds(10)
    /// How long answers are believed.
    static let lifetime = Duration.seconds(2)
    /// Questions that wait or are open; further ones are asked by multicast alone.
    static let limit = 32
    /// A responder that has answered by unicast is in its second of silence.
    private static let silence = Duration.seconds(1)
    /// Records of one answer that are believed.
    private static let mostRecords = 64
    /// The most that a record's TTL says in such an answer (§6.7).
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

    /// Nothing to ask.
    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.random = random }

    /// Answers are waited for.
    package var isOpen: Bool { !open.isEmpty }

    /// When `packets` has something to send or to end; nil when never.
    package var deadline: Duration? { (waiting.map(\.due) + open.map(\.end)).min() }

    /// Someone waits for the records of a key. One that is open is not asked again.
    package mutating func ask(_ key: RecordKey, at now: Duration) {
        let isKnown = waiting.contains { $0.key == key } || open.contains { $0.key == key && $0.end > now }
        guard !isKnown, waiting.count + open.count < Self.limit else { return }
        let isSilent = lastAnswer.map { now - $0 < Self.silence } ?? false
        waiting.append((key, isSilent ? now : now + Self.patience))
    }

    /// What is to be sent now: one question a packet, for what does not fit in 512 bytes of an answer is left out.
    /// - Parameters:
    ///   - isMissing: there is no answer yet.
    ///   - mayLeave: takes the place of one packet; false when there is none.
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

    /// Never one that is open.
    private mutating func newID() -> UInt16 {
        while true {
            let id = UInt16.random(in: 1 ... .max, using: &random)
            if !open.contains(where: { $0.id == id }) { return id }
        }
    }

    /// An answer was received from port 5353 of the link.
    /// - Returns: its records about the name that was asked for and its hosts; none where it answers no open question.
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
