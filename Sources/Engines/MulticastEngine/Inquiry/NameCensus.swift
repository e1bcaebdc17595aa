package import DNSMessage
package import DNSSD

/// Asks the links which services there are, to say what a name may mean. A value.
package struct NameCensus: Inquirer {
    /// How long it takes: when the usual service's name was heard with another type, when anything was, and when nothing was, because a
    /// host that has just sent a record to the group does not repeat it within a second (RFC 6762 §6).
    private static let (found, time, silent) = (
        Duration.milliseconds(700), Duration.milliseconds(1200), Duration.milliseconds(2000)
    )
    /// The most types, and the most services, that are kept.
    private static let (mostTypes, mostServices) = (128, 1024)

    /// The types that have services here.
    package private(set) var types: Set<ServiceType> = []
    package private(set) var services: Set<ServiceInstance> = []
    /// The name, where it was asked for as a host's.
    package private(set) var host: DomainName?
    /// Whether anyone else was heard at all.
    package private(set) var hasOthers = false
    private let usual: ServiceInstance?
    private let word: DomainName?
    private let asked: Set<ServiceType>
    private var questions = RepeatedQuestions(firstID: .random(in: 0x1000...0x7000))

    /// - Parameters:
    ///   - usual: what a bare word means before all else: when it answers, the census is over.
    ///   - types: types that are asked for whether they are listed or not (RFC 6763 §9 lets a responder leave them out).
    ///   - host: a host's name that the word may be.
    package init(usual: ServiceInstance? = nil, types: [ServiceType] = [], host: DomainName? = nil) {
        (self.usual, word, asked) = (usual, host, Set(types))
        if let usual, let name = DomainName(usual) { questions.ask(Question(name, .srv), at: .zero) }
        if let host { for type in [RecordType.a, .aaaa] { questions.ask(Question(host, type), at: .zero) } }
        if let list = DomainName.serviceTypes { questions.ask(Question(list, .ptr), at: .zero) }
        for type in types { ask(type, at: .zero) }
    }

    /// Services of this name, the usual one first.
    package func services(named name: ServiceName) -> [ServiceInstance] {
        services.filter { $0.name.text.lowercased() == name.text.lowercased() }
            .sorted { ($0 == usual ? 0 : 1, $0) < ($1 == usual ? 0 : 1, $1) }
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] { questions.due(at: now) }

    package func deadline(after now: Duration) -> Duration? {
        [questions.deadline(after: now), end].compactMap(\.self).filter { $0 > now }.min()
    }

    package func isOver(at now: Duration) -> Bool {
        usual.flatMap { DomainName($0) }.map { questions.isAnswered(Question($0, .srv)) } ?? false || now >= end
    }

    private var end: Duration {
        guard let usual else { return Self.time }
        if services.contains(where: { $0.name == usual.name }) { return Self.found }
        return host != nil || !asked.isDisjoint(with: types) ? Self.time : Self.silent
    }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        if !arrival.isOurs { hasOthers = true }
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0 else { return }
        for record in message.answers + message.additionals where record.recordClass == .internet && record.ttl > 0 {
            note(record, at: now)
        }
    }

    private mutating func note(_ record: ResourceRecord, at now: Duration) {
        switch record.data {
        case .srv:
            guard let usual, record.name == DomainName(usual) else { return }
            questions.answered { $0 == Question(record.name, .srv) }
            services.insert(usual)
        case .a, .aaaa: if record.name == word { host = word }
        case .ptr(let target):
            if let type = ServiceType(listed: target, in: .local), type.base == type {
                return ask(type, at: now)
            }
            guard services.count < Self.mostServices, let instance = try? ServiceInstance(fullName: target.description),
                instance.domain == .local, DomainName(listing: instance.type, in: .local) == record.name
            else { return }
            types.insert(instance.type)
            services.insert(instance)
        default: return
        }
    }

    private mutating func ask(_ type: ServiceType, at now: Duration) {
        guard types.count < Self.mostTypes, let name = DomainName(listing: type, in: .local) else { return }
        questions.ask(Question(name, .ptr), at: now)
    }
}

/// Questions that are asked again until they are answered or given up. A value.
package struct RepeatedQuestions: Sendable {
    private struct Asked {
        let question: Question
        let id: UInt16
        let start: Duration
        /// How often it was asked; nil once it is answered.
        var count: Int? = 0
    }

    /// When a question is asked, since it was first wanted.
    static let times: [Duration] = [.zero, .milliseconds(300), .milliseconds(1100), .milliseconds(2200)]
    /// How long after the last time there may be an answer.
    private static let patience = Duration.milliseconds(400)
    /// The most questions.
    private static let limit = 96

    private var asked: [Asked] = []
    private let firstID: UInt16

    /// - Parameter firstID: the id of the first question; up to 96 follow.
    init(firstID: UInt16) { self.firstID = firstID }

    /// Asks from now on; nothing if it was asked before, or there are too many.
    mutating func ask(_ question: Question, at now: Duration) {
        guard asked.count < Self.limit, !asked.contains(where: { $0.question == question }) else { return }
        asked.append(Asked(question: question, id: firstID + UInt16(asked.count), start: now))
    }

    /// No longer asks.
    mutating func answered(where isAnswer: (Question) -> Bool) {
        for index in asked.indices where isAnswer(asked[index].question) {
            asked[index].count = nil
        }
    }

    func isAnswered(_ question: Question) -> Bool {
        asked.contains { $0.question == question && $0.count == nil }
    }

    /// Whether a response to a port that asked belongs to a question: it repeats its id (RFC 6762 §6.7).
    func owns(_ message: Message) -> Bool { asked.contains { $0.id == message.id } }

    /// What to send now, from both ports: some firewalls let only the one or the other answer pass.
    mutating func due(at now: Duration) -> [OutgoingQuestion] {
        var questions: [OutgoingQuestion] = []
        for index in asked.indices {
            guard let next = next(asked[index]), next <= now else { continue }
            asked[index].count? += 1
            let (question, id) = (asked[index].question, asked[index].id)
            questions += [
                OutgoingQuestion(question, id: id, .group), OutgoingQuestion(question, id: 0, .shared),
            ].compactMap(\.self)
        }
        return questions
    }

    /// When something is due next, or given up.
    func deadline(after now: Duration) -> Duration? {
        asked.filter { $0.count != nil }.map { next($0) ?? Self.end($0) }.filter { $0 > now }.min()
    }

    /// Every question is answered or given up.
    func isOver(at now: Duration) -> Bool { asked.allSatisfy { $0.count == nil || now >= Self.end($0) } }

    private func next(_ asked: Asked) -> Duration? {
        asked.count.flatMap { $0 < Self.times.count ? asked.start + Self.times[$0] : nil }
    }

    private static func end(_ asked: Asked) -> Duration { asked.start + (times.last ?? .zero) + patience }
}
