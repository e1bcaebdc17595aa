#if Lifecycle
internal import DNSSD
internal import Discovery

/// What tells whether a service works, and how often it is asked. A service is withdrawn after `fall` failures in a row
/// and published again after `rise` passes, later if it keeps changing (`CheckState`); the first result counts at once.
public struct HealthCheck: Sendable {
    /// The time between two checks.
    public var interval: Duration
    /// The time that one check may take.
    public var limit: Duration
    /// Passes in a row that publish a service again.
    public var rise: Int
    /// Failures in a row that withdraw it.
    public var fall: Int
    private let isHealthy: @Sendable () async throws -> Bool

    /// Creates a check.
    /// - Parameters:
    ///   - interval: 100 ms at least.
    ///   - limit: a check that takes longer is cancelled and has failed. It must end soon after it is cancelled.
    ///   - rise: 1 at least.
    ///   - fall: 1 at least.
    ///   - isHealthy: returns whether the service works; an error means that it does not.
    public init(
        every interval: Duration = .seconds(5),
        limit: Duration = .seconds(2),
        rise: Int = 2,
        fall: Int = 2,
        _ isHealthy: @escaping @Sendable () async throws -> Bool
    ) {
        self.interval = max(interval, .milliseconds(100))
        self.limit = limit
        (self.rise, self.fall) = (max(rise, 1), max(fall, 1))
        self.isHealthy = isHealthy
    }

    /// Checks once.
    func result(_ time: any TimeSource) async -> CheckResult {
        await withTaskGroup(of: CheckResult.self) { group in
            group.addTask {
                do {
                    return try await isHealthy() ? .passed : .failed(reason: "its check says no")
                } catch {
                    return .failed(reason: String(describing: error).escapedForTerminal)
                }
            }
            group.addTask {
                try? await time.sleep(until: time.now + limit)
                return .failed(reason: "its check took longer than \(limit)")
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(reason: "it was not checked")
        }
    }
}
#endif
