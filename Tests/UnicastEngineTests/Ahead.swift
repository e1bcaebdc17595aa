import Testing

/// Runs a test ahead of others in its process: it waits for tasks of its own by yielding, and where all tests share the processors each of its
/// yields would take as long as a turn of all of them.
struct Ahead: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withoutActuallyEscaping(function) { function in
            let task = Task(priority: .high) { try await function() }
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}

extension Trait where Self == Ahead {
    static var ahead: Ahead { Ahead() }
}
