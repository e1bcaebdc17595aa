import DNSMessage
import Discovery
import Records

/// A query for types or domains, which the PTR records of one or more names list.
struct PointerBrowse<Key: Hashable & Sendable>: FinderRules {
    typealias Fact = PresenceFact<Key>

    private var graph: ListGraph<Key>
    private var source = ServerRecords(QuestionTable())
    private var watch = ServerWatch<Fact>()
    private var isListed = false
    private var facts: [Fact] = []

    init(_ names: [DomainName], read: @escaping @Sendable (DomainName) -> Key?) {
        graph = ListGraph(names, at: .unicast, read: read)
    }

    mutating func begin(at now: Duration) {
        graph.begin(&source, at: now)
        guard graph.lists.isEmpty else { return }
        facts += watch.answered().facts + [.listed]
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        guard let answer = source.answered(question, reading, at: now, jitter: jitter) else { return }
        source.table.forgetAdditionals()
        let all = graph.lists.compactMap { source.table[Question($0)] }
        guard all.contains(where: { $0.known != .unknown && $0.failures == 0 }) else {
            guard all.allSatisfy({ $0.failures > 0 }), let reason = all.compactMap(\.trouble).first else { return }
            facts += watch.failed(reason, times: all.map(\.failures).min() ?? 0)
            return
        }
        let (isBack, news) = watch.answered()
        facts += news
        if isBack {
            graph.reportAgain()
            isListed = false
        }
        for data in answer.removed { graph.changed(question.key, data, isAdded: false, source) }
        for data in answer.added { graph.changed(question.key, data, isAdded: true, source) }
        facts += graph.takeFacts()
        guard !isListed, all.allSatisfy(\.isSettled) else { return }
        isListed = true
        facts.append(.listed)
    }

    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] {
        source.table.due(at: now, jitter: jitter)
    }

    var deadline: Duration? { source.table.deadline }

    mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }

    var troubles: [String] { [watch.trouble, graph.omission].compactMap(\.self) }
}
