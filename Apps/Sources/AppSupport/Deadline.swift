/// A time limit for work that ends when its task is cancelled.
public enum Deadline {
    /// The work was not done in time.
    public struct Missed: Error {}

    /// Runs `body` for at most `limit`.
    /// - Throws: `Missed` if the limit passed first; otherwise the error of `body`.
    public static func run<Result: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() ?? nil else { throw Missed() }
            return result
        }
    }
}
