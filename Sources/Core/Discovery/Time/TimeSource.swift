/// A clock that a test can replace.
public protocol TimeSource: Sendable {
    /// The time since a fixed origin. It never goes back, and stands still while the machine sleeps.
    var now: Duration { get }

    /// Waits until `now` has reached `deadline`.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until deadline: Duration) async throws
}

/// The system's monotonic clock, `CLOCK_MONOTONIC`: unaffected by setting the clock, and stopped while the machine
/// sleeps.
public struct SystemTime: TimeSource {
    private static let origin = SuspendingClock().now

    /// Creates a time source; all have the same origin.
    public init() {}

    /// The time since the first use in this process.
    public var now: Duration { Self.origin.duration(to: SuspendingClock().now) }

    /// The latest deadline, about 136 years: the clock traps on overflow near 2⁶³ s, and no process lives this long.
    static let horizon = Duration.seconds(1 << 32)

    /// Waits until `now` has reached `deadline`, or 2³² s if that is earlier.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        let deadline = min(max(deadline, .zero), Self.horizon)
        try await SuspendingClock().sleep(until: Self.origin.advanced(by: deadline))
    }
}
