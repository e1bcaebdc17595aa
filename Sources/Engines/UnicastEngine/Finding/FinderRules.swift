import DNSMessage
import DNSSD
import Discovery

/// The rules of one query. A value: receives answers with their times, and returns questions and facts.
protocol FinderRules: Sendable {
    associatedtype Fact: Sendable

    mutating func begin(at now: Duration)
    /// Takes in the answer to a question.
    /// - Parameter jitter: 0 to 1; spreads the time of the next question.
    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double)
    /// Returns the questions to ask now.
    mutating func due(at now: Duration, jitter: () -> Double) -> [Question]
    /// When to call `due`; in the past if there is something to ask now, nil for never.
    var deadline: Duration? { get }
    /// Returns the facts since the last call.
    mutating func takeFacts() -> [Fact]
    /// The reasons why the answer may be incomplete, each a sentence.
    var troubles: [String] { get }
    /// A service could not be reached: asks for its records again.
    mutating func verify(_ instance: ServiceInstance, at now: Duration)
}

extension FinderRules {
    mutating func verify(_ instance: ServiceInstance, at now: Duration) {}
}

/// Derives from one query's answers whether servers answer. A first failure is `degraded`: known services stay. After a
/// second one in a row, or if no question was ever answered, the state is `down`.
struct ServerWatch<Fact: FinderFact>: Sendable {
    private(set) var state: EngineState?
    private(set) var trouble: String?

    /// A question was answered.
    /// - Returns: whether everything must be reported again, and the facts to report before.
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
