/// So many at once, then so many a second: of packets, bytes or updates. A token bucket; a value with virtual time.
package struct TokenBucket: Hashable, Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    /// Of when `tokens` is; nil before the first look.
    private var time: Duration?

    /// Creates a full bucket.
    /// - Parameters:
    ///   - burst: how many at once; at least 1.
    ///   - perSecond: how many in each second after that; at least 1.
    package init(burst: Double, perSecond: Double) {
        self.burst = max(1, burst)
        self.perSecond = max(1, perSecond)
        tokens = self.burst
    }

    /// Takes tokens; false if there are not as many now.
    /// - Parameters:
    ///   - count: how many.
    ///   - now: the time.
    ///   - reserve: the tokens to leave for others.
    package mutating func take(_ count: Double = 1, at now: Duration, leaving reserve: Double = 0) -> Bool {
        fill(at: now)
        guard tokens >= needed(count, reserve) else { return false }
        tokens -= count
        return true
    }

    /// Takes tokens that are not there, too.
    /// - Returns: how long it takes until what is missing has come.
    package mutating func overdraw(_ count: Double, at now: Duration) -> Duration {
        fill(at: now)
        tokens -= count
        return tokens < 0 ? .seconds(-tokens / perSecond) : .zero
    }

    /// When as many may be taken.
    package func next(_ count: Double = 1, at now: Duration, leaving reserve: Double = 0) -> Duration {
        var filled = self
        filled.fill(at: now)
        let missing = needed(count, reserve) - filled.tokens
        guard missing > 0 else { return now }
        // The extra microsecond keeps rounding from leaving the bucket just short of it.
        return (filled.time ?? now) + .seconds(missing / perSecond) + .microseconds(1)
    }

    package func isFull(at now: Duration) -> Bool {
        var filled = self
        filled.fill(at: now)
        return filled.tokens >= burst
    }

    /// Never more than the bucket holds.
    private func needed(_ count: Double, _ reserve: Double) -> Double { min(count + reserve, burst) }

    private mutating func fill(at now: Duration) {
        defer { time = max(time ?? now, now) }
        guard let time, now > time else { return }
        tokens = min(burst, tokens + (now - time) / .seconds(1) * perSecond)
    }
}
