package import DNSMessage

/// Questions and what is known of their answers, in as few packets as they fit in (RFC 6762 §7.1 and §7.2).
///
/// Where the known answers do not fit behind the questions the packet says so (TC), and they go on in packets without questions.
package struct QuestionPackets: Sendable {
    /// Payload of a packet that is not fragmented on Ethernet: 1500 bytes less the headers of IPv6 and UDP, and a little room.
    package static let length = 1440

    package private(set) var packets: [[UInt8]] = []

    /// Packets of these questions.
    package init(_ questions: [Question], limit: Int = length, knownAnswers: (Question) -> [ResourceRecord]) {
        var rest = questions[...]
        while !rest.isEmpty {
            var writer = MessageWriter(limit: limit, compression: .multicast)
            var asked: [Question] = []
            while let question = rest.first, writer.add(question) {
                asked.append(question)
                rest.removeFirst()
            }
            // A question that fits in no packet cannot be asked.
            guard !asked.isEmpty else {
                rest.removeFirst()
                continue
            }
            add(asked.flatMap(knownAnswers), behind: writer, limit)
        }
    }

    private mutating func add(_ answers: [ResourceRecord], behind first: MessageWriter, _ limit: Int) {
        var writer = first
        for answer in answers where !writer.add(answer, to: .answer) {
            var next = MessageWriter(limit: limit, compression: .multicast)
            // One that fits nowhere is asked for as if it were not known.
            guard next.add(answer, to: .answer) else { continue }
            writer.setFlags(.truncated)
            packets.append(writer.bytes)
            writer = next
        }
        packets.append(writer.bytes)
    }
}
