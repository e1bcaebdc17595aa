/// Limits how much a client may say: a burst, then a number of lines per second.
public struct Pace: Sendable {
    private let burst: Double
    private let rate: Double
    private var tokens: Double
    private var last: Duration

    /// - Parameter now: on any clock that does not jump.
    public init(burst: Int = 64, perSecond rate: Int = 32, now: Duration) {
        self.burst = Double(burst)
        self.rate = Double(rate)
        tokens = Double(burst)
        last = now
    }

    /// Counts lines read from the client.
    /// - Returns: how long to pause reading from it.
    public mutating func took(_ lines: Int, now: Duration) -> Duration {
        tokens = min(burst, tokens + (now - last) / .seconds(1) * rate) - Double(lines)
        last = now
        return tokens >= 0 ? .zero : .milliseconds(Int64((-tokens / rate * 1000).rounded(.up)))
    }
}
