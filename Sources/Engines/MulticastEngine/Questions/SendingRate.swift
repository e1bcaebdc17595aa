/// Limits packets: a burst, then a number per second. A token bucket.
package struct SendingRate: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Duration?

    /// Creates a full bucket.
    /// - Parameters:
    ///   - burst: packets at once; at least 1.
    ///   - perSecond: packets per second after that; at least 1.
    package init(burst: Int = 50, perSecond: Int = 100) {
        self.burst = Double(max(1, burst))
        self.perSecond = Double(max(1, perSecond))
        tokens = self.burst
    }

    /// Takes a token for one packet; returns false if there is none now.
    /// - Parameters:
    ///   - now: the time.
    ///   - reserve: the tokens to leave for others.
    package mutating func take(at now: Duration, leaving reserve: Int = 0) -> Bool {
        fill(at: now)
        guard tokens >= needed(reserve) else { return false }
        tokens -= 1
        return true
    }

    /// Returns when the next packet may be sent.
    /// - Parameters:
    ///   - now: the time.
    ///   - reserve: the tokens to leave for others.
    package func next(at now: Duration, leaving reserve: Int = 0) -> Duration {
        var filled = self
        filled.fill(at: now)
        let missing = needed(reserve) - filled.tokens
        guard missing > 0 else { return now }
        // The extra microsecond keeps rounding from leaving the token just short of one.
        return now + .seconds(missing / perSecond) + .microseconds(1)
    }

    /// The tokens needed for a packet; never more than the bucket holds.
    private func needed(_ reserve: Int) -> Double { min(Double(reserve) + 1, burst) }

    private mutating func fill(at now: Duration) {
        defer { last = max(last ?? now, now) }
        guard let last, now > last else { return }
        tokens = min(burst, tokens + (now - last) / .seconds(1) * perSecond)
    }
}

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
