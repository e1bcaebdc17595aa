/// A value under a lock whose changes tasks wait for. Which of several gets what one change makes possible is not promised.
package final class Awaited<Value: Sendable>: Sendable {
    private typealias Waiter = (id: UInt64, turn: CheckedContinuation<Void, Never>)

    private struct Contents {
        var value: Value
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0
    }

    private let contents: Locked<Contents>

    package init(_ value: Value) { contents = Locked(Contents(value: value)) }

    /// The value as it is now.
    package var value: Value { contents.withLock { $0.value } }

    /// Changes the value; all that wait look at it again.
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, waiters) = contents.withLock { contents in
            defer { contents.waiters = [] }
            return (body(&contents.value), contents.waiters)
        }
        for waiter in waiters { waiter.turn.resume() }
        return result
    }

    /// Waits until `body` returns a result. It is called at once and after each change, with the lock held, and may change the value.
    /// - Returns: nil where the task is cancelled.
    package func wait<Result: Sendable>(for body: (inout Value) -> Result?) async -> Result? {
        let id = contents.withLock { contents in
            contents.lastID += 1
            return contents.lastID
        }
        var result: Result?
        while result == nil, !Task.isCancelled {
            await withTaskCancellationHandler {
                await withCheckedContinuation { turn in
                    let next = contents.withLock { contents -> [Waiter] in
                        // Cancelling sets the flag before it looks for the waiter, so one of the two notices the other.
                        if !Task.isCancelled { result = body(&contents.value) }
                        contents.waiters.append((id, turn))
                        guard result != nil || Task.isCancelled else { return [] }
                        defer { contents.waiters = [] }
                        return contents.waiters
                    }
                    for waiter in next { waiter.turn.resume() }
                }
            } onCancel: {
                let waiter = contents.withLock { contents in
                    contents.waiters.firstIndex { $0.id == id }.map { contents.waiters.remove(at: $0) }
                }
                waiter?.turn.resume()
            }
        }
        return result
    }
}
