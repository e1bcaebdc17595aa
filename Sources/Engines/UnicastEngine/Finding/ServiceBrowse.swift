import DNSMessage
import DNSSD
import Discovery
import Records

/// A query for services: asks for the list of a type or for one instance, and for the records of each service.
struct ServiceBrowse: FinderRules {
    typealias Fact = BrowseFact

    /// Nil if a name is longer than a domain name can be.
    private var graph: ServiceGraph?
    private var source: ServerRecords
    private var report = FinderReport<Fact>()
    private var leftOut = 0
    /// Why a question other than the primary one failed.
    private var trouble: String?

    /// - Parameter own: tells the services of this machine; nil: there are none.
    init(_ query: ServiceQuery, own: OwnServices? = nil) {
        graph = ServiceGraph(query, at: .unicast, patience: .untilAnswered)
        let list = graph.flatMap { $0.isForOne ? nil : $0.key.name }
        source = ServerRecords(QuestionTable(followingSerialAt: list), own: own)
    }

    mutating func begin(at now: Duration) {
        guard graph != nil else {
            return report.add([.backend(.down("the name is longer than a domain name can be (RFC 1035 §2.3.4)"))])
        }
        source.jitter = 0
        graph?.begin(&source, at: now)
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        guard let answer = source.answered(question, reading, at: now, jitter: jitter), let primary = graph?.key else {
            return
        }
        defer { source.table.forgetAdditionals() }
        if question.key == primary { answeredPrimary(answer.polled) } else { noteTrouble(of: answer.polled) }
        if question.type == .ptr {
            for data in answer.removed { graph?.changed(primary, data, isAdded: false, &source, at: now) }
            for data in answer.added { graph?.changed(primary, data, isAdded: true, &source, at: now) }
            if answer.polled.failures == 0 { noteLeftOut(of: answer.polled.records) }
        } else {
            graph?.touched(question.key)
        }
        graph?.evaluate(&source, at: now)
        report.add(graph?.takeFacts() ?? [])
        list(of: primary)
    }

    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] {
        if let due = graph?.deadline, due <= now { graph?.advance(to: now, &source) }
        return source.table.due(at: now, jitter: jitter)
    }

    var deadline: Duration? { earlier(source.table.deadline, graph?.deadline) }

    mutating func takeFacts() -> [Fact] { report.takeFacts() + (graph?.takeFacts() ?? []) }

    var troubles: [String] {
        [report.trouble, trouble, leftOut > 0 ? leftOutText : nil].compactMap(\.self)
    }

    mutating func verify(_ instance: ServiceInstance, at now: Duration) {
        guard let graph, let name = DomainName(instance) else { return }
        source.table.hasten(Question(name, .srv))
        for host in graph.hosts(of: name) {
            for type in graph.addressTypes { source.table.hasten(Question(host, type)) }
        }
    }

    private mutating func answeredPrimary(_ polled: PolledQuestion) {
        if let reason = polled.trouble, polled.failures > 0 {
            return report.failed(reason, times: polled.failures)
        }
        if report.answered() { graph?.reportAgain() }
    }

    /// Says how many names of the list are none of services.
    private mutating func noteLeftOut(of records: [RecordData]) {
        guard let graph else { return }
        let left = records.count { if case .ptr(let name) = $0 { graph.serviceName(name) == nil } else { false } }
        if left > leftOut {
            leftOut = left
            report.add([.degraded(leftOutText)])
        }
        leftOut = left
    }

    private var leftOutText: String {
        "\(leftOut) names in the list of \(graph?.key.name.shown ?? "") were left out: they are none of services there"
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
    private mutating func list(of key: RecordKey) {
        guard report.isListing, let graph else { return }
        if graph.isForOne, !graph.hasAnswer, !graph.isFailing, source.standing(key) != .denied { return }
        report.listed()
    }
}
