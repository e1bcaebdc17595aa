/// Returns the result of `body`. When `limit` has passed, cancels `body` and still waits for it, so `body` must heed
/// cancellation.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async -> Value {
    let work = Task { await body() }
    let timer = Task {
        // The clock traps beyond 2⁶³ s.
        if (try? await Task.sleep(for: min(limit, Duration.seconds(1 << 32)))) != nil { work.cancel() }
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
}
