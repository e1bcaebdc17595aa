/// A clock that a test can replace.
public protocol TimeSource: Sendable {
    /// Time since an origin that stays the same; it never goes back, and stands still while the machine sleeps.
    var now: Duration { get }

    /// Returns when `now` has reached `deadline`.
    /// - Throws: `CancellationError` when the task is cancelled before.
    func sleep(until deadline: Duration) async throws
}

/// The system's monotonic clock: `CLOCK_MONOTONIC`, so neither a clock that is set nor a suspended machine counts as time.
public struct SystemTime: TimeSource {
    private static let origin = SuspendingClock().now

    /// Creates a source; all have the same origin.
    public init() {}

    /// Time since the first use in this process.
    public var now: Duration { Self.origin.duration(to: SuspendingClock().now) }

    /// No process lives longer; the clock's own numbers end at 2⁶³ s, where it would end the process.
    static let horizon = Duration.seconds(1 << 32)

    /// Returns when `now` has reached `deadline`; one that is further away than 136 years counts as that.
    public func sleep(until deadline: Duration) async throws {
        let deadline = min(max(deadline, .zero), Self.horizon)
        try await SuspendingClock().sleep(until: Self.origin.advanced(by: deadline))
    }
}
