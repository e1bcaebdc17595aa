/// Limits the rate of log lines: a burst, then one every few seconds. Suppressed lines are counted.
public struct LinePace: Sendable {
    /// How many lines a burst may have.
    public static let burst = 20
    /// How long until another line is allowed.
    public static let interval = Duration.seconds(5)

    private var last: ContinuousClock.Instant
    private var free = Self.burst
    private var suppressed = 0

    /// Creates a pace with the whole burst available.
    public init(now: ContinuousClock.Instant) { last = now }

    /// Asks to show a line.
    /// - Returns: how many were suppressed since the last one; nil if this one is suppressed too.
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
