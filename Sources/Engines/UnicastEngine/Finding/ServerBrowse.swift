import DNSMessage
import DNSSD
import Discovery
import Records

/// A graph whose records DNS servers can be asked for.
protocol ServerGraph: RecordGraph {
    /// What is asked first: whether that is answered says whether servers answer.
    var keys: [RecordKey] { get }
    /// What is left out, as a sentence; nil if nothing is.
    var omission: String? { get }
    /// Reports again everything that is known: no one answered for a while.
    mutating func reportAgain()
    /// Whether a name on the list is none of a service.
    func isUnfit(_ name: DomainName) -> Bool
    /// What is asked for a service.
    func keys(of service: DomainName) -> [RecordKey]
}

extension ServiceGraph: ServerGraph {
    var keys: [RecordKey] { [key] }
    var omission: String? { nil }

    func isUnfit(_ name: DomainName) -> Bool { serviceName(name) == nil }

    func keys(of service: DomainName) -> [RecordKey] {
        [RecordKey(service, .srv)]
            + hosts(of: service).flatMap { host in addressTypes.map { RecordKey(host, $0) } }
    }
}

extension ListGraph: ServerGraph {
    var keys: [RecordKey] { lists }

    func isUnfit(_ name: DomainName) -> Bool { false }
    func keys(of service: DomainName) -> [RecordKey] { [] }
}

/// One query: asks for the lists or the records of its graph. A value: receives answers with their times, and returns questions and facts.
struct ServerBrowse<Graph: ServerGraph>: Sendable {
    /// Nil if a name is longer than a domain name can be.
    private var graph: Graph?
    private var source: ServerRecords
    private var report = FinderReport<Graph.Fact>()
    private var leftOut = 0
    /// Why a question failed that is not asked first.
    private var trouble: String?

    init(_ graph: Graph?, _ source: ServerRecords = ServerRecords(QuestionTable())) {
        (self.graph, self.source) = (graph, source)
    }

    private var keys: [RecordKey] { graph?.keys ?? [] }

    mutating func begin(at now: Duration) {
        guard graph != nil else {
            return report.add([.backend(.down("the name is longer than a domain name can be (RFC 1035 §2.3.4)"))])
        }
        graph?.begin(&source, at: now)
        // There is nothing to ask.
        if keys.isEmpty, report.answered() { report.listed() }
    }

    /// Takes in the answer to a question.
    /// - Parameter jitter: 0 to 1; spreads the time of the next question.
    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        guard let answer = source.answered(question, reading, at: now, jitter: jitter) else { return }
        defer { source.table.forgetAdditionals() }
        let first = keys.compactMap { source.table[Question($0)] }
        if keys.contains(question.key) { judge(first) } else { noteTrouble(of: answer.polled) }
        if question.type == .ptr {
            for data in answer.removed { graph?.changed(question.key, data, isAdded: false, &source, at: now) }
            for data in answer.added { graph?.changed(question.key, data, isAdded: true, &source, at: now) }
            if answer.polled.failures == 0 { noteLeftOut(of: answer.polled.records) }
        } else {
            graph?.touched(question.key)
        }
        graph?.evaluate(&source, at: now)
        report.add(graph?.takeFacts() ?? [])
        if first.allSatisfy(\.isSettled) { list() }
    }

    /// Returns the questions to ask now.
    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] {
        if let due = graph?.deadline, due <= now { graph?.advance(to: now, &source) }
        return source.table.due(at: now, jitter: jitter)
    }

    /// When to call `due`; in the past if there is something to ask now, nil for never.
    var deadline: Duration? { earlier(source.table.deadline, graph?.deadline) }

    /// Returns the facts since the last call.
    mutating func takeFacts() -> [Graph.Fact] { report.takeFacts() + (graph?.takeFacts() ?? []) }

    /// The reasons why the answer may be incomplete, each a sentence.
    var troubles: [String] {
        [report.trouble, trouble, leftOut > 0 ? leftOutText : nil, graph?.omission].compactMap(\.self)
    }

    /// A service could not be reached: asks for its records again.
    mutating func verify(_ instance: ServiceInstance) {
        guard let name = DomainName(instance) else { return }
        for key in graph?.keys(of: name) ?? [] { source.table.hasten(Question(key)) }
    }

    /// Servers answer if one of the first questions is answered, and do not if all have failed.
    private mutating func judge(_ first: [PolledQuestion]) {
        if first.contains(where: { $0.known != .unknown && $0.failures == 0 }) {
            if report.answered() { graph?.reportAgain() }
        } else if first.allSatisfy({ $0.failures > 0 }), let reason = first.compactMap(\.trouble).first {
            report.failed(reason, times: first.map(\.failures).min() ?? 0)
        }
    }

    /// Says how many names of the list are none of services.
    private mutating func noteLeftOut(of records: [RecordData]) {
        guard let graph else { return }
        let left = records.count { if case .ptr(let name) = $0 { graph.isUnfit(name) } else { false } }
        if left > leftOut {
            leftOut = left
            report.add([.degraded(leftOutText)])
        }
        leftOut = left
    }

    private var leftOutText: String {
        "\(leftOut) names in the list of \(graph?.key.name.presentation ?? "") were left out: "
            + "they are none of services there"
    }

    /// Reports a failure once, until a question is answered again.
    private mutating func noteTrouble(of polled: PolledQuestion) {
        if polled.trouble == nil {
            trouble = nil
        } else if trouble == nil, let reason = polled.trouble {
            trouble = reason
            report.degraded(reason)
        }
    }

    /// Reports `listed` once: after the list's sightings, or when the one service is resolved or cannot be.
    private mutating func list() {
        guard report.isListing, let graph else { return }
        if graph.isForOne, !graph.hasAnswer, !graph.isFailing, source.standing(graph.key) != .denied { return }
        report.listed()
    }
}

extension ServerBrowse<ServiceGraph> {
    /// Asks for the list of a type or for one instance, and for the records of each service.
    /// - Parameter own: tells the services of this machine; nil: there are none.
    init(_ query: ServiceQuery, own: OwnServices? = nil) {
        let graph = ServiceGraph(query, at: .unicast, patience: .untilAnswered)
        let list = graph.flatMap { $0.isForOne ? nil : $0.key.name }
        self.init(graph, ServerRecords(QuestionTable(followingSerialAt: list), own: own))
    }
}
