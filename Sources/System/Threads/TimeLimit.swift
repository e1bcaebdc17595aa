/// What `body` has when it is done, or has when `limit` has passed and it is cancelled. It is waited for then, too: it must heed that.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async -> Value {
    let work = Task { await body() }
    let timer = Task {
        // The clock's own numbers end at 2⁶³ s, where it would end the process.
        if (try? await Task.sleep(for: min(limit, Duration.seconds(1 << 32)))) != nil { work.cancel() }
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
}
