import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records

/// What one query reports, and whether servers answer. A first failure is `degraded`: known services stay. After a second
/// one in a row, or if no question was ever answered, the state is `down`.
struct FinderReport<Fact: FinderFact>: Sendable {
    private enum State { case silent, answered, listed, down }

    private var state = State.silent
    private var facts: [Fact] = []
    private(set) var trouble: String?

    /// Whether servers answer, and not all is listed yet.
    var isListing: Bool { state == .answered }

    mutating func add(_ new: [Fact]) { facts += new }

    /// A question was answered.
    /// - Returns: whether everything must be reported again.
    mutating func answered() -> Bool {
        trouble = nil
        guard state == .silent || state == .down else { return false }
        state = .answered
        facts.append(.backend(.up))
        return true
    }

    mutating func failed(_ reason: String, times: Int) {
        trouble = reason
        guard state != .down else { return }
        if state != .silent, times < 2 { return degraded(reason) }
        state = .down
        facts.append(.backend(.down(reason)))
    }

    /// A question failed without which the answer is incomplete.
    mutating func degraded(_ reason: String) {
        if state == .answered || state == .listed { facts.append(.degraded("\(reason): what was known is kept")) }
    }

    mutating func listed() {
        state = .listed
        facts.append(.listed)
    }

    mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }
}

/// Carries out one query. Each question is an unstructured task, because only the operation waits for it.
final class FinderOperation<Graph: ServerGraph>: FinderQuery {
    private struct State {
        var rules: ServerBrowse<Graph>
        var tasks: [Question: Task<Void, Never>] = [:]
        var alarm: Alarm?
        var isOver = false
    }

    private let state: Locked<State>
    private let time: any TimeSource
    private let ask: @Sendable (Question) async -> AnswerReading
    private let report: @Sendable ([Graph.Fact]) -> Void
    private let reports = ReportQueue<Int>()

    init(
        _ rules: ServerBrowse<Graph>, time: any TimeSource, ask: @escaping @Sendable (Question) async -> AnswerReading,
        report: @escaping @Sendable ([Graph.Fact]) -> Void
    ) {
        state = Locked(State(rules: rules))
        self.time = time
        self.ask = ask
        self.report = report
    }

    /// Starts in a task: a report must not come from within the call that starts an operation.
    func start(_ alarmClock: AlarmClock) {
        let alarm = alarmClock.make { [weak self] _ in self?.advance() }
        state.withLock { $0.alarm = alarm }
        Task { self.advance { rules, now in rules.begin(at: now) } }
    }

    func end() {
        let tasks = state.withLock { state in
            state.isOver = true
            state.alarm = nil
            defer { state.tasks = [:] }
            return state.tasks.values
        }
        reports.drop(0)
        for task in tasks { task.cancel() }
    }

    func verify(_ instance: ServiceInstance) { advance { rules, _ in rules.verify(instance) } }

    var troubles: [String] { state.withLock { $0.rules.troubles } }

    private func answered(_ question: Question, _ reading: AnswerReading) {
        state.withLock { $0.tasks[question] = nil }
        advance { rules, now in
            rules.answered(question, reading, at: now, jitter: .random(in: 0...1))
        }
    }

    private func advance(_ change: (inout ServerBrowse<Graph>, Duration) -> Void = { _, _ in }) {
        let now = time.now
        state.withLock { state in
            guard !state.isOver else { return }
            change(&state.rules, now)
            for question in state.rules.due(at: now, jitter: { .random(in: 0...1) }) {
                state.tasks[question] = Task { [weak self, ask] in
                    let reading = await ask(question)
                    guard !Task.isCancelled else { return }
                    self?.answered(question, reading)
                }
            }
            state.alarm?.set(to: state.rules.deadline)
            let facts = state.rules.takeFacts()
            // Added under the lock, which keeps the batches in order.
            if !facts.isEmpty { reports.add(to: 0) { [report] in report(facts) } }
        }
        reports.run()
    }
}

/// A query of any kind, as the finder keeps it.
protocol FinderQuery: AnyObject, Sendable {
    func end()
    func verify(_ instance: ServiceInstance)
    var troubles: [String] { get }
}
