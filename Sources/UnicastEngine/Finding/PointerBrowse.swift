import DNSMessage
import DNSSD
import Discovery

/// A query for types or domains, which the PTR records of one or more names list.
struct PointerBrowse<Key: Hashable & Sendable>: FinderRules {
    typealias Fact = PresenceFact<Key>

    /// The most keys that are kept.
    private static var mostKeys: Int { 1024 }

    private let lists: [Question]
    private let read: @Sendable (DomainName) -> Key?
    private var table = QuestionTable()
    private var known: Set<Key> = []
    private var watch = ServerWatch<Fact>()
    private var isListed = false
    /// Whether more keys are listed than are kept.
    private var isFull = false
    private var facts: [Fact] = []

    init(_ names: [DomainName], read: @escaping @Sendable (DomainName) -> Key?) {
        lists = names.map { Question($0, .ptr) }
        self.read = read
    }

    mutating func begin(at now: Duration) {
        for list in lists { table.want(list, at: now, jitter: 0) }
        guard lists.isEmpty else { return }
        facts += watch.answered().facts + [.listed]
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        table.answered(question, reading, at: now, jitter: jitter)
        table.forgetAdditionals()
        let all = lists.compactMap { table[$0] }
        let answered = all.filter { $0.known != .unknown && $0.failures == 0 }
        if answered.isEmpty {
            guard all.allSatisfy({ $0.failures > 0 }), let reason = all.compactMap(\.trouble).first else { return }
            facts += watch.failed(reason, times: all.map(\.failures).min() ?? 0)
            return
        }
        let (isBack, news) = watch.answered()
        facts += news
        if isBack {
            facts += known.map { .appeared($0, .unicast) }
            isListed = false
        }
        update(all.flatMap(\.records))
        guard !isListed, all.allSatisfy(\.isSettled) else { return }
        isListed = true
        facts.append(.listed)
    }

    private mutating func update(_ records: [RecordData]) {
        var there: Set<Key> = []
        var new: [Key] = []
        for case .ptr(let name) in records {
            guard let key = read(name), there.insert(key).inserted else { continue }
            if !known.contains(key) { new.append(key) }
        }
        let wasFull = isFull
        isFull = there.count > Self.mostKeys
        // Servers list in any order, so what is known stays.
        for key in new.dropFirst(Self.mostKeys - known.intersection(there).count) { there.remove(key) }
        for key in new where there.contains(key) {
            known.insert(key)
            facts.append(.appeared(key, .unicast))
        }
        if isFull, !wasFull { facts.append(.degraded(Self.fullText)) }
        for key in known.subtracting(there) {
            known.remove(key)
            facts.append(.disappeared(key, .unicast))
        }
    }

    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] { table.due(at: now, jitter: jitter) }

    var deadline: Duration? { table.deadline }

    mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }

    var troubles: [String] { [watch.trouble, isFull ? Self.fullText : nil].compactMap(\.self) }

    private static var fullText: String { "results may be incomplete: more than \(mostKeys) names are listed" }
}
