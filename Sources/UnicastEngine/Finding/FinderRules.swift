import DNSMessage
import DNSSD
import Discovery

/// The rules of one query, as a value: told of answers and times, it says what to ask and what to report.
protocol FinderRules: Sendable {
    associatedtype Fact: Sendable

    mutating func begin(at now: Duration)
    /// - Parameter jitter: 0 to 1, for when to ask again.
    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double)
    /// What to ask now.
    mutating func due(at now: Duration, jitter: () -> Double) -> [Question]
    /// When there is something to ask; a time that is past where that is now.
    var deadline: Duration? { get }
    /// What there is to report.
    mutating func takeFacts() -> [Fact]
    /// What keeps it from being complete, each a sentence.
    var troubles: [String] { get }
    /// A service could not be reached: its records are asked for again.
    mutating func verify(_ instance: ServiceInstance, at now: Duration)
    /// Services whose hosts have no addresses here, with a reason, and those that have some again.
    mutating func takeWithheld() -> [ServiceInstance: String?]
}

extension FinderRules {
    mutating func verify(_ instance: ServiceInstance, at now: Duration) {}
    mutating func takeWithheld() -> [ServiceInstance: String?] { [:] }
}

/// Whether servers answer, as one query tells it: a question that fails once leaves what is known in force, and says so; when it fails
/// again, or nothing was ever known, nobody answers.
struct ServerWatch<Fact: FinderFact>: Sendable {
    private(set) var state: EngineState?
    private(set) var trouble: String?

    /// - Returns: whether everything is to be reported again, then what to report first.
    mutating func answered() -> (isBack: Bool, facts: [Fact]) {
        trouble = nil
        guard state != .up else { return (false, []) }
        state = .up
        return (true, [.backend(.up)])
    }

    mutating func failed(_ reason: String, times: Int) -> [Fact] {
        trouble = reason
        if case .down = state { return [] }
        guard state == .up, times < 2 else {
            state = .down(reason)
            return [.backend(.down(reason))]
        }
        return [.degraded("\(reason): what was known is kept")]
    }
}
