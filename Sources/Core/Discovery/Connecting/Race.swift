/// The times and counts that bound a race (RFC 8305 §8).
public struct RaceLimits: Hashable, Sendable {
    /// How long an attempt runs before the next one joins it: 100 ms to 2 s.
    public let attemptDelay: Duration
    /// The most attempts that are started; at least 1.
    public let maximumAttempts: Int
    /// The most time the race may take; not negative.
    public let overall: Duration

    /// Creates limits; values outside their ranges are moved to the nearest bound.
    public init(
        attemptDelay: Duration = .milliseconds(250),
        maximumAttempts: Int = 8,
        overall: Duration = .seconds(10)
    ) {
        self.attemptDelay = min(max(attemptDelay, .milliseconds(100)), .seconds(2))
        self.maximumAttempts = max(1, maximumAttempts)
        self.overall = max(overall, .zero)
    }
}

/// Staggers attempts to connect so that a dead candidate costs little; the first that succeeds wins (RFC 8305 §5).
///
/// A value: takes events and their time, and returns the candidate to start now, if one is to. It starts each candidate at most once, and none
/// after the end. Then the caller cancels the attempts that still run, and closes what succeeds too late.
package struct Race<Candidate: Hashable & Sendable>: Sendable {
    /// How the race ended.
    package enum Outcome: Hashable, Sendable {
        case won(Candidate)
        /// Every attempt failed, and there are no more candidates or no attempts left.
        case failed
        case timedOut
        case cancelled
    }

    private let limits: RaceLimits
    private let deadline: Duration
    /// Candidates to start, the next one first.
    private var waiting: [Candidate] = []
    private var started: Set<Candidate> = []
    private var running: Set<Candidate> = []
    private var attemptDue: Duration?
    private var isListComplete = false
    package private(set) var outcome: Outcome?

    package init(limits: RaceLimits, now: Duration) {
        self.limits = limits
        deadline = now + limits.overall
    }

    /// The time at which to call `timePassed`; nil after the end.
    package var nextDeadline: Duration? {
        guard outcome == nil else { return nil }
        guard let attemptDue, !waiting.isEmpty, started.count < limits.maximumAttempts else { return deadline }
        return min(attemptDue, deadline)
    }

    /// Replaces the candidates that have not been started.
    /// - Parameter candidates: all that are known now, best first.
    /// - Returns: the one to start.
    package mutating func resolved(_ candidates: [Candidate], now: Duration) -> Candidate? {
        guard outcome == nil else { return nil }
        var known = started
        waiting = candidates.filter { known.insert($0).inserted }
        // A late candidate starts at once if nothing runs, otherwise when its turn comes.
        return proceed(now: now, mayStart: running.isEmpty || isDue(now))
    }

    /// No more candidates will come.
    package mutating func listCompleted(now: Duration) {
        isListComplete = true
        _ = proceed(now: now, mayStart: false)
    }

    /// Ends the race if the time has come.
    /// - Returns: the candidate to start.
    package mutating func timePassed(now: Duration) -> Candidate? { proceed(now: now, mayStart: isDue(now)) }

    /// An attempt failed.
    /// - Returns: the next one, which starts without delay.
    package mutating func failed(_ candidate: Candidate, now: Duration) -> Candidate? {
        guard outcome == nil, running.remove(candidate) != nil else { return nil }
        return proceed(now: now, mayStart: true)
    }

    /// An attempt succeeded; it has won if `outcome` says so.
    package mutating func succeeded(_ candidate: Candidate) {
        if outcome == nil, running.contains(candidate) { finish(.won(candidate)) }
    }

    /// The connection is no longer wanted.
    package mutating func cancelled() { if outcome == nil { finish(.cancelled) } }

    private func isDue(_ now: Duration) -> Bool { attemptDue.map { $0 <= now } ?? false }

    private mutating func proceed(now: Duration, mayStart: Bool) -> Candidate? {
        guard outcome == nil else { return nil }
        guard now < deadline else {
            finish(.timedOut)
            return nil
        }
        let mayAttempt = started.count < limits.maximumAttempts
        if mayStart, mayAttempt, !waiting.isEmpty {
            let next = waiting.removeFirst()
            started.insert(next)
            running.insert(next)
            attemptDue = now + limits.attemptDelay
            return next
        }
        if running.isEmpty, !mayAttempt || (isListComplete && waiting.isEmpty) { finish(.failed) }
        return nil
    }

    private mutating func finish(_ outcome: Outcome) {
        self.outcome = outcome
        (waiting, running, attemptDue) = ([], [], nil)
    }
}
