/// How many packets may be sent when: a burst, then so many a second, whatever is asked for. A token bucket.
package struct SendingRate: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Duration?

    /// A full bucket.
    /// - Parameters:
    ///   - burst: packets at once; at least 1.
    ///   - perSecond: packets a second after that; at least 1.
    package init(burst: Int = 50, perSecond: Int = 100) {
        self.burst = Double(max(1, burst))
        self.perSecond = Double(max(1, perSecond))
        tokens = self.burst
    }

    /// Takes the place of one packet; false when there is none now.
    package mutating func take(at now: Duration) -> Bool {
        fill(at: now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// When the next packet may be sent.
    package func next(at now: Duration) -> Duration {
        var filled = self
        filled.fill(at: now)
        guard filled.tokens < 1 else { return now }
        // A microsecond more: what is computed from it must not come out a hair below one.
        return now + .seconds((1 - filled.tokens) / perSecond) + .microseconds(1)
    }

    private mutating func fill(at now: Duration) {
        defer { last = max(last ?? now, now) }
        guard let last, now > last else { return }
        tokens = min(burst, tokens + (now - last) / .seconds(1) * perSecond)
    }
}
