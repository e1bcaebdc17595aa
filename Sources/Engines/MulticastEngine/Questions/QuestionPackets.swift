package import DNSMessage

/// Questions and their known answers in as few packets as possible (RFC 6762 §7.1 and §7.2).
///
/// Known answers that do not fit behind the questions continue in packets without questions, announced by TC. Those that not every host reads are
/// treated as unknown, and questions for such names are asked apart from others (`isReadByAll`).
package struct QuestionPackets: Sendable {
    /// The payload of an unfragmented Ethernet packet: 1500 bytes less the headers of IPv6 and UDP, with a small
    /// reserve.
    package static let length = 1440

    package private(set) var packets: [[UInt8]] = []

    /// Creates packets for these questions.
    package init(_ questions: [Question], limit: Int = length, knownAnswers: (Question) -> [ResourceRecord]) {
        let all = questions.filter(\.name.isReadByAll)
        add(all, limit, knownAnswers)
        if all.count < questions.count { add(questions.filter { !$0.name.isReadByAll }, limit, knownAnswers) }
    }

    private mutating func add(_ questions: [Question], _ limit: Int, _ knownAnswers: (Question) -> [ResourceRecord]) {
        var rest = questions[...]
        while !rest.isEmpty {
            var writer = MessageWriter(limit: limit, compression: .multicast)
            var asked: [Question] = []
            while let question = rest.first, writer.add(question) {
                asked.append(question)
                rest.removeFirst()
            }
            // A question that fits into no packet cannot be asked.
            guard !asked.isEmpty else {
                rest.removeFirst()
                continue
            }
            add(asked.flatMap(knownAnswers).filter(\.isReadByAll), behind: writer, limit)
        }
    }

    private mutating func add(_ answers: [ResourceRecord], behind first: MessageWriter, _ limit: Int) {
        var writer = first
        for answer in answers where !writer.add(answer, to: .answer) {
            var next = MessageWriter(limit: limit, compression: .multicast)
            // An answer that fits into no packet is treated as unknown.
            guard next.add(answer, to: .answer) else { continue }
            writer.setFlags(.truncated)
            packets.append(writer.bytes)
            writer = next
        }
        packets.append(writer.bytes)
    }
}
