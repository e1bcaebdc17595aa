/// Times and counts of a race (RFC 8305 §8).
public struct RaceLimits: Hashable, Sendable {
    /// How long an attempt runs before the next is started beside it: 100 ms to 2 s.
    public let attemptDelay: Duration
    /// How many attempts are started at most: 1 and up.
    public let maximumAttempts: Int
    /// How long everything may take.
    public let overall: Duration

    /// Takes values, moved into their ranges.
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

/// Dials several candidates so that a dead one costs little: the first that answers wins (RFC 8305 §5).
///
/// A value: takes what happened and when, and returns what to do. Each candidate is started once at most. After
/// `.finish` only `.close` comes, for attempts that succeed too late.
package struct Race<Candidate: Hashable & Sendable>: Sendable {
    /// How it ended.
    package enum Outcome: Hashable, Sendable {
        case won(Candidate)
        /// Every candidate failed, and no more will come, or no more attempts are left.
        case failed
        case timedOut
        case cancelled
    }

    /// What to do.
    package enum Action: Hashable, Sendable {
        case start(Candidate)
        /// The attempt is no longer needed; it may still succeed.
        case cancel(Candidate)
        /// It succeeded too late: close its connection.
        case close(Candidate)
        case finish(Outcome)
    }

    private let limits: RaceLimits
    private let deadline: Duration
    /// Those to start, the next one first.
    private var waiting: [Candidate] = []
    private var started: Set<Candidate> = []
    /// In the order of their start.
    private var running: [Candidate] = []
    private var attemptDue: Duration?
    private var isListComplete = false
    package private(set) var outcome: Outcome?

    package init(limits: RaceLimits, now: Duration) {
        self.limits = limits
        deadline = now + limits.overall
    }

    /// When to call `timePassed`; nil after the end.
    package var nextDeadline: Duration? {
        guard outcome == nil else { return nil }
        guard let attemptDue, !waiting.isEmpty, started.count < limits.maximumAttempts else { return deadline }
        return min(attemptDue, deadline)
    }

    /// The candidates known now, the best first. Those that are not among them and were not started are forgotten.
    package mutating func resolved(_ candidates: [Candidate], now: Duration) -> [Action] {
        guard outcome == nil else { return [] }
        var known = started
        waiting = candidates.filter { known.insert($0).inserted }
        if let end = endIfLate(now) { return end }
        // One that comes late joins at once if nothing runs, else when it is its turn.
        return proceed(now: now, mayStart: running.isEmpty || isDue(now))
    }

    /// No more candidates will come.
    package mutating func listCompleted(now: Duration) -> [Action] {
        isListComplete = true
        guard outcome == nil else { return [] }
        return endIfLate(now) ?? proceed(now: now, mayStart: false)
    }

    /// Time passed.
    package mutating func timePassed(now: Duration) -> [Action] {
        guard outcome == nil else { return [] }
        return endIfLate(now) ?? proceed(now: now, mayStart: isDue(now))
    }

    /// An attempt failed: the next is started without waiting.
    package mutating func failed(_ candidate: Candidate, now: Duration) -> [Action] {
        guard outcome == nil, let index = running.firstIndex(of: candidate) else { return [] }
        running.remove(at: index)
        return endIfLate(now) ?? proceed(now: now, mayStart: true)
    }

    /// An attempt succeeded; also after the end.
    package mutating func succeeded(_ candidate: Candidate) -> [Action] {
        guard outcome == nil, running.contains(candidate) else {
            return outcome == .won(candidate) ? [] : [.close(candidate)]
        }
        return finish(.won(candidate), leaving: candidate)
    }

    /// The connection is no longer wanted.
    package mutating func cancelled() -> [Action] {
        outcome == nil ? finish(.cancelled) : []
    }

    private func isDue(_ now: Duration) -> Bool { attemptDue.map { $0 <= now } ?? false }

    private mutating func endIfLate(_ now: Duration) -> [Action]? { now >= deadline ? finish(.timedOut) : nil }

    private mutating func proceed(now: Duration, mayStart: Bool) -> [Action] {
        let mayAttempt = started.count < limits.maximumAttempts
        if mayStart, mayAttempt, !waiting.isEmpty {
            let next = waiting.removeFirst()
            started.insert(next)
            running.append(next)
            attemptDue = now + limits.attemptDelay
            return [.start(next)]
        }
        if running.isEmpty, !mayAttempt || (isListComplete && waiting.isEmpty) { return finish(.failed) }
        return []
    }

    private mutating func finish(_ outcome: Outcome, leaving winner: Candidate? = nil) -> [Action] {
        self.outcome = outcome
        let losers = running.filter { $0 != winner }
        (waiting, running, attemptDue) = ([], [], nil)
        return losers.map { .cancel($0) } + [.finish(outcome)]
    }
}
