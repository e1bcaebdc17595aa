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
