/// Whether one more line may be shown: a burst of them, then one every few seconds; what is not shown is counted.
public struct LinePace: Sendable {
    /// Lines at once.
    public static let burst = 20
    /// How long one more takes to be allowed.
    public static let interval = Duration.seconds(5)

    private var last: ContinuousClock.Instant
    private var free = Self.burst
    private var suppressed = 0

    /// A pace with the whole burst before it.
    public init(now: ContinuousClock.Instant) { last = now }

    /// A line is to be shown.
    /// - Returns: how many were not shown since the last one; nil when this one is not to be shown either.
    public mutating func line(now: ContinuousClock.Instant) -> Int? {
        let steps = max(0, (now - last) / Self.interval)
        if steps >= Double(Self.burst - free) {
            (free, last) = (Self.burst, now)
        } else if steps >= 1 {
            free += Int(steps)
            last += Self.interval * Int(steps)
        }
        guard free > 0 else {
            suppressed += 1
            return nil
        }
        if free == Self.burst { last = now }
        free -= 1
        defer { suppressed = 0 }
        return suppressed
    }
}
