package import DNSMessage
package import DNSSD
import WireNames

/// Asks the links for one name and what it leads to, and remembers who said what, and how it came. A value.
package struct NameInquiry: Inquirer {
    /// The most records that are kept, of all and of one sender, and the most hosts.
    private static let (mostRecords, mostOfOne, mostHosts) = (512, 64, 256)
    /// The most hosts that services name, and the most services of a type, that are asked for.
    private static let mostTargets = 16
    /// How long other hosts have to claim the name too.
    private static let least = Duration.milliseconds(400)
    /// How long a type may lag behind another of its name, which may not exist.
    private static let lag = Duration.milliseconds(600)

    /// What makes two records the same.
    private struct Known: Hashable {
        let name: DomainName
        let data: RecordData
        let sender: IPAddress
        let interface: NetworkInterface
        let way: Arrival.Way
        let isGoodbye: Bool
    }

    package let subject: InquirySubject
    /// In the order in which they came; each once of a host and a way.
    package private(set) var heard: [Heard] = []
    /// The other hosts that were heard, whatever they said.
    package private(set) var hosts: Set<IPAddress> = []
    /// The links on which packets of others to the group were heard.
    package private(set) var groupLinks: Set<NetworkInterface> = []
    /// How many packets arrive; nil where no one answers to a port of its own.
    package private(set) var sample: AnswerSample?
    private var known: Set<Known> = []
    private var counts: [IPAddress: Int] = [:]
    /// What was said of each name, and when first.
    private var said: [DomainName: (first: Duration, types: Set<RecordType>)] = [:]
    private var questions = RepeatedQuestions(firstID: .random(in: 0x1000...0x2000))
    /// The hosts that the service names, or the services of the type.
    package private(set) var targets: Set<DomainName> = []
    /// When the group was asked again only to hear it.
    private var groupRounds = 0

    package init(_ subject: InquirySubject) {
        self.subject = subject
        for question in subject.questions { questions.ask(question, at: .zero) }
    }

    /// The records that say that the name is there.
    package var answers: [Heard] { records(of: subject.name, subject.types) }

    /// What was heard of a name, goodbyes apart.
    package func records(of name: DomainName?, _ types: [RecordType]) -> [Heard] {
        heard.filter { $0.record.name == name && types.contains($0.record.type) && $0.record.ttl > 0 }
    }

    /// The name is being withdrawn: nothing but goodbyes was heard of it.
    package var isWithdrawn: Bool {
        answers.isEmpty && heard.contains { $0.record.name == subject.name && $0.record.ttl == 0 }
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        settle(at: now)
        var due = questions.due(at: now) + (sample?.due(at: now) ?? [])
        if let next = groupCheck, next <= now {
            groupRounds += 1
            due += subject.questions.prefix(1).compactMap { OutgoingQuestion($0, id: 0, .shared) }
        }
        return due
    }

    package func deadline(after now: Duration) -> Duration? {
        [questions.deadline(after: now), sample?.deadline(after: now), groupCheck, Self.least].compactMap(\.self)
            .filter { $0 > now }.min()
    }

    package func isOver(at now: Duration) -> Bool {
        now >= Self.least && questions.isOver(at: now) && sample?.isOver(at: now) != false && groupCheck == nil
    }

    /// When the group is to be asked once more, because only unicast was heard: a host that has just sent a record to the group does not
    /// repeat it within a second (RFC 6762 §6).
    private var groupCheck: Duration? {
        let isDeaf = !deafLinks.isEmpty
        let times = [Duration.milliseconds(1150), .milliseconds(2250), .milliseconds(2900)]
        return isDeaf && groupRounds < times.count ? times[groupRounds] : nil
    }

    /// Links on which hosts answered by unicast alone.
    package var deafLinks: Set<NetworkInterface> {
        Set(heard.filter { $0.arrival.way == .answer }.map(\.arrival.interface)).subtracting(groupLinks)
    }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        if arrival.way == .group { groupLinks.insert(arrival.interface) }
        if arrival.way != .own, hosts.count < Self.mostHosts { hosts.insert(arrival.sender) }
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0 else { return }
        sample?.received(message, arrival)
        if arrival.way == .answer, !questions.owns(message) { return }
        let count = heard.count
        for record in message.answers + message.additionals where record.recordClass == .internet {
            note(record, arrival, at: now)
        }
        if heard.count > count { settle(at: now) }
        if sample == nil, arrival.way == .answer, arrival.isNear, message.questions.count == 1,
            let question = message.questions.first, subject.questions.first == question,
            message.answers.contains(where: { $0.name == question.name })
        {
            sample = AnswerSample(question, of: arrival, firstID: .random(in: 0x4000...0x7000), at: now)
        }
    }

    private mutating func note(_ record: ResourceRecord, _ arrival: Arrival, at now: Duration) {
        guard isWanted(record), heard.count < Self.mostRecords, counts[arrival.sender] ?? 0 < Self.mostOfOne else {
            return
        }
        let key = Known(
            name: record.name, data: record.data, sender: arrival.sender, interface: arrival.interface,
            way: arrival.way, isGoodbye: record.ttl == 0)
        guard known.insert(key).inserted else { return }
        counts[arrival.sender, default: 0] += 1
        heard.append(Heard(record: record, arrival: arrival, time: now))
        guard record.ttl > 0 else { return }
        said[record.name, default: (now, [])].types.insert(record.type)
        switch record.data {
        case .srv(_, _, _, let target) where record.name == subject.name && targets.count < Self.mostTargets:
            guard targets.insert(target).inserted else { return }
            for type in [RecordType.a, .aaaa] { questions.ask(Question(target, type), at: now) }
        case .ptr(let name) where record.name == subject.name && targets.count < Self.mostTargets:
            if targets.insert(name).inserted { questions.ask(Question(name, .srv), at: now) }
        default: break
        }
    }

    /// Whether a record is about the subject.
    private func isWanted(_ record: ResourceRecord) -> Bool {
        if record.name == subject.listing, case .ptr(let name) = record.data { return name == subject.name }
        if case .nsec = record.data { return false }
        return record.name == subject.name || targets.contains(record.name)
    }

    /// Gives up questions that have their answer, and those for the other family's address of a host that has answered for one.
    private mutating func settle(at now: Duration) {
        questions.answered { question in
            guard let said = said[question.name] else { return false }
            return said.types.contains(question.type) || now - said.first >= Self.lag
        }
    }
}
