package import DNSMessage
package import DNSSD

/// Tries whether questions and answers pass on a link: asks all who are there, and listens for what this machine sends itself. A value.
///
/// What this machine sends to the group comes back to it through the same firewall as what others send, so it tells a firewall here from a
/// link on which no one speaks.
package struct LinkTrial: Inquirer {
    private static let times = [Duration.zero, .milliseconds(300), .milliseconds(1100), .milliseconds(2200)]
    private static let end = Duration.milliseconds(2600)
    /// The most of this machine's addresses, and the most neighbours, that are asked for.
    private static let (mostOwn, mostNeighbours) = (4, 8)
    private static let mostHosts = 256

    /// What was heard of this machine through the group.
    private enum Echo: Comparable { case nothing, something, answer }

    private var echo = Echo.nothing
    /// Something that this machine sent to the group was heard.
    package var isEchoed: Bool { echo > .nothing }
    /// This machine's own responder was heard to answer.
    package var hasOwnAnswer: Bool { echo == .answer }
    /// Other hosts that were heard through the group, and those that said there what was asked for.
    package private(set) var group: Set<IPAddress> = []
    package private(set) var answering: Set<IPAddress> = []
    /// Other hosts that answered to the port that asked.
    package private(set) var direct: Set<IPAddress> = []
    private let (wantsOwn, wantsOthers): (Bool, Bool)
    private let questions: [Question]
    private let id = UInt16.random(in: 0x1000...0x7000)
    private var sent = 0

    /// - Parameters:
    ///   - own: this machine's addresses: every responder has their names, and need not have a service. None: its answer is not waited for.
    ///   - neighbours: addresses of other hosts, whose names are asked for, too; nil: others are not waited for.
    package init(own: [IPAddress], neighbours: [IPAddress]?) {
        let own = own.prefix(Self.mostOwn).compactMap { DomainName(reverse: $0) }
        let others = (neighbours ?? []).prefix(Self.mostNeighbours).compactMap { DomainName(reverse: $0) }
        let types = DomainName.serviceTypes.map { [$0] } ?? []
        (wantsOwn, wantsOthers) = (!own.isEmpty, neighbours != nil)
        questions = (types + own + others).map { Question($0, .ptr) }
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        guard sent < Self.times.count, Self.times[sent] <= now else { return [] }
        sent += 1
        return [
            OutgoingQuestion(questions, id: id, .group),
            OutgoingQuestion(questions, id: 0, .shared),
        ].compactMap(\.self)
    }

    package func deadline(after now: Duration) -> Duration? {
        sent < Self.times.count ? Self.times[sent] : now < Self.end ? Self.end : nil
    }

    package func isOver(at now: Duration) -> Bool {
        now >= Self.end || !wantsOthers && isEchoed && (hasOwnAnswer || !wantsOwn)
    }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        let isAnswer = message.flags.contains(.response)
        switch arrival.way {
        case .own: echo = max(echo, isAnswer ? .answer : .something)
        case .group where !arrival.isOurs && group.count < Self.mostHosts:
            group.insert(arrival.sender)
            if isAnswer, message.answers.contains(where: isWanted) { answering.insert(arrival.sender) }
        case .answer where isAnswer && !arrival.isOurs && direct.count < Self.mostHosts:
            direct.insert(arrival.sender)
        case .group, .answer: break
        }
    }

    private func isWanted(_ record: ResourceRecord) -> Bool { questions.contains { $0.name == record.name } }
}

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
