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
    /// - Parameter knownAnswers: passes on the known answers to a question, one by one.
    package init(
        _ questions: [Question], limit: Int = length, knownAnswers: (Question, (ResourceRecord) -> Void) -> Void
    ) {
        let all = questions.filter(\.name.isReadByAll)
        add(all, limit, knownAnswers)
        if all.count < questions.count { add(questions.filter { !$0.name.isReadByAll }, limit, knownAnswers) }
    }

    private mutating func add(
        _ questions: [Question], _ limit: Int, _ knownAnswers: (Question, (ResourceRecord) -> Void) -> Void
    ) {
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
            for question in asked {
                knownAnswers(question) { answer in
                    guard answer.isReadByAll, !writer.add(answer, to: .answer) else { return }
                    begin(with: answer, behind: &writer, limit)
                }
            }
            packets.append(writer.bytes)
        }
    }

    /// Goes on in the next packet. An answer that fits into no packet is treated as unknown.
    private mutating func begin(with answer: ResourceRecord, behind writer: inout MessageWriter, _ limit: Int) {
        var next = MessageWriter(limit: limit, compression: .multicast)
        guard next.add(answer, to: .answer) else { return }
        writer.setFlags(.truncated)
        packets.append(writer.bytes)
        writer = next
    }
}

// What avahi-daemon 0.8 reads. It throws away the whole packet that has anything else in it, and answers no question of it: one device with
// a name in Latin-1 would hide the services of every Avahi host from who lists that name among what it knows.

extension DomainName {
    /// Whether every host reads the name: its labels are UTF-8 without a zero byte.
    package var isReadByAll: Bool {
        // The root's is the only zero byte then: no other label is empty.
        if wire.allSatisfy({ $0 < 0x80 }) { return wire.count { $0 == 0 } == 1 }
        return labels.allSatisfy { !$0.contains(0) && String(validating: $0, as: UTF8.self) != nil }
    }
}

extension ResourceRecord {
    /// Whether every host reads the record.
    package var isReadByAll: Bool {
        guard name.isReadByAll else { return false }
        switch data {
        case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): return name.isReadByAll
        case .other: return !Self.parsed.contains(type)
        case .a, .aaaa, .txt, .nsec, .hinfo, .soa, .tsig: return true
        }
    }

    /// Types whose data it looks at. Data of these that breaks their format has no case of its own.
    private static let parsed: Set<RecordType> = [.a, .aaaa, .ptr, .srv, .txt, .cname, .ns, .hinfo]
}

/// Questions waiting for their time, and packets of such questions waiting to be sent.
struct QuestionLane: Sendable {
    /// The deadlines of the questions.
    var heap = DeadlineHeap()
    /// The packets in reverse order.
    private var packets: [[UInt8]] = []

    /// Whether no packet waits.
    var isEmpty: Bool { packets.isEmpty }

    /// Stores packets in order; the lane must be empty.
    mutating func fill(_ packets: [[UInt8]]) { self.packets = packets.reversed() }

    mutating func takeFirst() -> [UInt8]? { packets.popLast() }
}

extension QuestionSchedule {
    enum Lane: Int, CaseIterable {
        /// Lookups by name.
        case named
        case others
        /// The first questions for what lists have led to: they wait for the burst of packets to end.
        case listed
    }
}
