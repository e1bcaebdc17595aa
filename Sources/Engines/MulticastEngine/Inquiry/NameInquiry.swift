package import DNSMessage
package import DNSSD

/// What is explained: a name of the link.
package enum InquirySubject: Hashable, Sendable {
    case service(ServiceInstance)
    /// All services of a type.
    case type(ServiceType)
    case host(DomainName)

    /// Whose records say that it is there.
    package var name: DomainName? {
        switch self {
        case .service(let instance): DomainName(instance)
        case .type(let type): DomainName(listing: type, in: .local)
        case .host(let name): name
        }
    }

    /// The types of those records.
    var types: [RecordType] {
        switch self {
        case .service: [.srv]
        case .type: [.ptr]
        case .host: [.a, .aaaa]
        }
    }

    /// Where a service is listed; nil of others.
    package var listing: DomainName? {
        guard case .service(let instance) = self else { return nil }
        return DomainName(listing: instance.type, in: instance.domain)
    }

    /// What is asked first.
    var questions: [Question] {
        guard let name else { return [] }
        let more = listing.map { [Question(name, .txt), Question($0, .ptr)] } ?? []
        return types.map { Question(name, $0) } + more
    }
}

/// Asks the links for one name and what it leads to, and remembers who said what, and how it came. A value.
package struct NameInquiry: Inquirer {
    /// The most hosts that are remembered.
    private static let mostHosts = 256
    /// The most hosts that services name, and the most services of a type, that are asked for.
    private static let mostTargets = 16
    /// How long answers to the port that asks have, before a host that is heard through the group is asked for them.
    private static let sampleDelay = Duration.milliseconds(200)
    /// How long other hosts have to claim the name too.
    private static let least = Duration.milliseconds(400)
    /// How long a type may lag behind another of its name, which may not exist.
    private static let lag = Duration.milliseconds(600)
    /// When the group is asked again where only unicast was heard, and when it has had its time: a host that has just sent a record to the
    /// group does not repeat it within a second (RFC 6762 §6).
    private static let rounds = [Duration.milliseconds(1150), .milliseconds(2250), .milliseconds(2600)]
    private static let roundsEnd = Duration.milliseconds(2850)
    /// The types that are about a service or a host.
    private static let wanted: Set<RecordType> = [.a, .aaaa, .ptr, .srv, .txt]

    package let subject: InquirySubject
    /// The other hosts that were heard, whatever they said.
    package private(set) var hosts: Set<IPAddress> = []
    /// The links on which packets of others to the group were heard.
    package private(set) var groupLinks: Set<NetworkInterface> = []
    /// How many packets arrive; nil where no one answers to a port of its own.
    package private(set) var sample: AnswerSample?
    /// The hosts that the service names, or the services of the type.
    package private(set) var targets: Set<DomainName> = []
    /// Another host of the link answers for the name.
    package private(set) var hasNearAnswer = false
    /// Another host answers for it to the group with hop limit 255, or one that the system does not tell.
    package private(set) var hasDirectAnswer = false
    private var kept = HeardRecords()
    /// Hosts that answered by unicast without id and question.
    private var lone: Set<IPAddress> = []
    /// What was said of each name, and when first.
    private var said: [DomainName: (first: Duration, types: Set<RecordType>)] = [:]
    private var questions = RepeatedQuestions(firstID: .random(in: 0x1000...0x2000))
    /// How often the group was asked again only to hear it; one more when it has had its time.
    private var groupRounds = 0
    private var isGroupAsked: Bool { groupRounds > Self.rounds.count }

    package init(_ subject: InquirySubject) {
        self.subject = subject
        for question in subject.questions { questions.ask(question, at: .zero) }
    }

    /// In the order in which they came; each once of a host and a way.
    package var heard: [Heard] { kept.all }

    /// The records that say that the name is there.
    package var answers: [Heard] { records(of: subject.name, subject.types) }

    /// What was heard of a name, goodbyes apart.
    package func records(of name: DomainName?, _ types: [RecordType]) -> [Heard] {
        heard.filter { $0.record.name == name && types.contains($0.record.type) && $0.record.ttl > 0 }
    }

    /// More was said of a name than is kept: what is missing there may have been said.
    package func isPartial(_ name: DomainName?, _ types: [RecordType]) -> Bool {
        name.map { name in types.contains { kept.isPartial(RecordKey(name, $0)) } } ?? false
    }

    /// More was said of the name itself than is kept.
    package var isPartial: Bool { isPartial(subject.name, subject.types) }

    /// The name is being withdrawn: nothing but goodbyes was heard of it.
    package var isWithdrawn: Bool {
        answers.isEmpty && heard.contains { $0.record.name == subject.name && $0.record.ttl == 0 }
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        settle(at: now)
        sampleGroup(at: now)
        var due = questions.due(at: now) + (sample?.due(at: now) ?? [])
        guard let next = groupCheck, next <= now else { return due }
        groupRounds += 1
        guard !isGroupAsked else { return due }
        due += subject.questions.prefix(1).compactMap { OutgoingQuestion($0, id: 0, .shared) }
        return due
    }

    package func deadline(after now: Duration) -> Duration? {
        [questions.deadline(after: now), sample?.deadline(after: now), groupCheck, Self.sampleDelay, Self.least]
            .compactMap(\.self)
            .filter { $0 > now }.min()
    }

    package func isOver(at now: Duration) -> Bool {
        now >= Self.least && questions.isOver(at: now) && sample?.isOver != false && groupCheck == nil
    }

    /// When the group is to be asked once more, or has had its time; nil where it is heard, or not waited for any more.
    private var groupCheck: Duration? {
        guard !isGroupAsked, !deafLinks.isEmpty else { return nil }
        return groupRounds < Self.rounds.count ? Self.rounds[groupRounds] : Self.roundsEnd
    }

    /// Links on which hosts answered by unicast alone, so far.
    private var deafLinks: Set<NetworkInterface> {
        Set(
            heard.filter { $0.arrival.way == .answer && !$0.arrival.isOurs && !lone.contains($0.arrival.sender) }
                .map(\.arrival.interface)
        ).subtracting(groupLinks)
    }

    /// Hosts that answer the asker alone, as hashicorp/mdns: by unicast, in the form of an answer to the group.
    package var loners: Set<IPAddress> {
        lone.subtracting(heard.filter { $0.arrival.way == .group }.map(\.arrival.sender))
    }

    /// The same, once the group was asked often enough.
    package var unheardLinks: Set<NetworkInterface> { isGroupAsked ? deafLinks : [] }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        if !arrival.isOurs {
            if arrival.way == .group { groupLinks.insert(arrival.interface) }
            if hosts.count < Self.mostHosts { hosts.insert(arrival.sender) }
        }
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0 else { return }
        sample?.received(message, arrival)
        if arrival.way == .answer, !questions.owns(message) {
            guard message.id == 0, message.questions.isEmpty, arrival.place == .link,
                message.answers.contains(where: isWanted), lone.count < Self.mostHosts
            else { return }
            lone.insert(arrival.sender)
        }
        let count = heard.count
        for record in message.answers + message.additionals where record.recordClass == .internet {
            note(record, arrival, at: now)
        }
        if heard.count > count { settle(at: now) }
        if sample == nil, arrival.way == .answer, arrival.place == .link, message.questions.count == 1,
            let question = message.questions.first, subject.questions.first == question,
            message.answers.contains(where: { $0.name == question.name })
        {
            sample = AnswerSample(question, of: arrival, firstID: .random(in: 0x4000...0x7000), at: now)
        }
    }

    /// What a host answers to the port that asked may have been lost at first.
    private mutating func sampleGroup(at now: Duration) {
        guard sample == nil, now >= Self.sampleDelay, let question = subject.questions.first else { return }
        let heard = answers.first {
            $0.arrival.way == .group && $0.arrival.place == .link && $0.record.type == question.type
        }
        sample = heard.map { AnswerSample(question, of: $0.arrival, firstID: .random(in: 0x4000...0x7000), at: now) }
    }

    private mutating func note(_ record: ResourceRecord, _ arrival: Arrival, at now: Duration) {
        guard isWanted(record) else { return }
        // What is not kept counts here all the same.
        if !arrival.isOurs, record.ttl > 0, record.name == subject.name, subject.types.contains(record.type) {
            hasNearAnswer = hasNearAnswer || arrival.place == .link
            hasDirectAnswer = hasDirectAnswer || arrival.way == .group && arrival.hops ?? 255 == 255
        }
        guard kept.add(Heard(record: record, arrival: arrival, time: now)), record.ttl > 0 else { return }
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
        guard Self.wanted.contains(record.type) else { return false }
        if record.name == subject.listing, case .ptr(let name) = record.data { return name == subject.name }
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
