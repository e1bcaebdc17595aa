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
/// A value: takes events and their time, and returns actions. It starts each candidate at most once. After `.finish` it
/// returns only `.close`, for attempts that succeed too late.
package struct Race<Candidate: Hashable & Sendable>: Sendable {
    /// How the race ended.
    package enum Outcome: Hashable, Sendable {
        case won(Candidate)
        /// Every attempt failed, and there are no more candidates or no attempts left.
        case failed
        case timedOut
        case cancelled
    }

    /// What the caller must do.
    package enum Action: Hashable, Sendable {
        case start(Candidate)
        /// Cancel the attempt, which may still succeed.
        case cancel(Candidate)
        /// Close the connection of an attempt that succeeded too late.
        case close(Candidate)
        case finish(Outcome)
    }

    private let limits: RaceLimits
    private let deadline: Duration
    /// Candidates to start, the next one first.
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

    /// The time at which to call `timePassed`; nil after the end.
    package var nextDeadline: Duration? {
        guard outcome == nil else { return nil }
        guard let attemptDue, !waiting.isEmpty, started.count < limits.maximumAttempts else { return deadline }
        return min(attemptDue, deadline)
    }

    /// Replaces the candidates that have not been started.
    /// - Parameter candidates: all that are known now, best first.
    package mutating func resolved(_ candidates: [Candidate], now: Duration) -> [Action] {
        guard outcome == nil else { return [] }
        var known = started
        waiting = candidates.filter { known.insert($0).inserted }
        if let end = endIfLate(now) { return end }
        // A late candidate starts at once if nothing runs, otherwise when its turn comes.
        return proceed(now: now, mayStart: running.isEmpty || isDue(now))
    }

    /// No more candidates will come.
    package mutating func listCompleted(now: Duration) -> [Action] {
        isListComplete = true
        guard outcome == nil else { return [] }
        return endIfLate(now) ?? proceed(now: now, mayStart: false)
    }

    /// Starts the next attempt or ends the race if the time has come.
    package mutating func timePassed(now: Duration) -> [Action] {
        guard outcome == nil else { return [] }
        return endIfLate(now) ?? proceed(now: now, mayStart: isDue(now))
    }

    /// An attempt failed; the next one starts without delay.
    package mutating func failed(_ candidate: Candidate, now: Duration) -> [Action] {
        guard outcome == nil, let index = running.firstIndex(of: candidate) else { return [] }
        running.remove(at: index)
        return endIfLate(now) ?? proceed(now: now, mayStart: true)
    }

    /// An attempt succeeded; may also come after the end.
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
