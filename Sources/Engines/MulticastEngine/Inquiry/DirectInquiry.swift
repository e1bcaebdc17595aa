package import DNSMessage
package import DNSSD

/// Asks single hosts by unicast (RFC 6762 §5.5) for a name that no one answers for when the group is asked. A value.
package struct DirectInquiry: Inquirer {
    /// The most hosts that are asked.
    package static let mostHosts = 16
    private static let times = [Duration.zero, .milliseconds(200)]
    private static let end = Duration.milliseconds(500)

    /// The hosts that answered.
    package private(set) var answers: Set<IPAddress> = []
    private let question: Question?
    private let hosts: [IPAddress]
    private let id = UInt16.random(in: 0x1000...0x7000)
    private var sent = 0

    package init(_ subject: InquirySubject, of hosts: some Sequence<IPAddress>) {
        question = subject.questions.first
        self.hosts = Array(hosts.prefix(Self.mostHosts))
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        guard let question, sent < Self.times.count, Self.times[sent] <= now else { return [] }
        sent += 1
        return hosts.filter { !answers.contains($0) }.compactMap {
            OutgoingQuestion(question, id: id, .host($0))
        }
    }

    package func deadline(after now: Duration) -> Duration? {
        (Self.times + [Self.end]).first { $0 > now }
    }

    package func isOver(at now: Duration) -> Bool {
        question == nil || answers.count == hosts.count || now >= Self.end
    }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        guard arrival.way == .answer, message.id == id, hosts.contains(arrival.sender),
            message.flags.contains(.response),
            message.answers.contains(where: { $0.name == question?.name && $0.ttl > 0 })
        else { return }
        answers.insert(arrival.sender)
    }
}
