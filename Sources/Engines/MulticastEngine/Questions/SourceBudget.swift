/// How many questions a host is worth: those for what it lists. Answers pay for more; what it leaves unanswered is asked for ever less,
/// so that nobody makes this machine say more to the group than they said.
struct SourceBudget: Sendable {
    /// Questions that may be open or lost without a delay.
    private static let capacity = 1024
    /// What an answer pays for: another question, and its repetition after a loss.
    static let reward = 2
    /// What is asked after each wait, without an answer.
    private static let ration = 64
    private static let firstWait = Duration.seconds(2)
    private static let longestWait = Duration.seconds(3600)

    private var credit = capacity
    /// The places of questions that were put off; some may have gone since.
    private var waiting: [Int32] = []
    /// The most such places; further ones wait for a ration.
    private static let mostWaiting = 65_536
    private var wait = firstWait
    /// When there is a ration; nil while there is credit.
    private(set) var next: Duration?

    /// Whether it is as good as new.
    var isWhole: Bool { credit == Self.capacity && waiting.isEmpty }

    mutating func putOff(_ place: Int) {
        if waiting.count < Self.mostWaiting { waiting.append(Int32(clamping: place)) }
    }

    /// Takes the place of a question that was put off, the latest first.
    mutating func takeWaiting() -> Int? { waiting.popLast().map { Int($0) } }

    /// Takes one question; returns false if there is none before `next`.
    mutating func take(at now: Duration) -> Bool {
        if credit == 0, let next, next <= now {
            credit = Self.ration
            wait = min(wait * 2, Self.longestWait)
        }
        guard credit > 0 else { return false }
        credit -= 1
        next = credit == 0 ? now + wait : nil
        return true
    }

    /// A question was answered.
    mutating func answered() {
        credit = min(credit + Self.reward, Self.capacity)
        next = nil
        if credit == Self.capacity { wait = Self.firstWait }
    }
}
