/// How much is read of a daemon that is not believed to be moderate: a number of bytes at once, and so many a second. A value.
struct ReadingPace: Sendable {
    private let (burst, perSecond): (Double, Double)
    private var left: Double
    private var filled: ContinuousClock.Instant

    /// - Parameter burst: the bytes that are read at once.
    init(burst: Int, perSecond: Int, at now: ContinuousClock.Instant) {
        (self.burst, self.perSecond) = (Double(burst), Double(perSecond))
        (left, filled) = (Double(burst), now)
    }

    /// Bytes were read.
    /// - Returns: how long to wait with the next.
    mutating func read(_ count: Int, at now: ContinuousClock.Instant) -> Duration {
        left = min(burst, left + max(0, filled.duration(to: now) / .seconds(1)) * perSecond) - Double(count)
        filled = max(filled, now)
        return left < 0 ? .seconds(-left / perSecond) : .zero
    }
}
