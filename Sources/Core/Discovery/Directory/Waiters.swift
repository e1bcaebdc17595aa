import DiscoveryPOSIX

/// Tasks waiting for the next change; stored under the same lock as the value they watch.
package struct Waiters: Sendable {
    /// The number of changes so far, from 1. A task that has seen one version can wait for a newer one.
    package private(set) var version: UInt64 = 1
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var lastID: UInt64 = 0

    package init() {}

    /// Counts a change.
    /// - Returns: work that resumes the waiting tasks.
    package mutating func changed() -> FollowUp {
        version += 1
        defer { waiting = [:] }
        return { [waiting] in for continuation in waiting.values { continuation.resume() } }
    }

    fileprivate mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// - Returns: whether there is nothing to wait for.
    fileprivate mutating func enter(
        _ id: UInt64, _ continuation: CheckedContinuation<Void, Never>, after version: UInt64
    )
        -> Bool
    {
        guard self.version == version, !Task.isCancelled else { return true }
        waiting[id] = continuation
        return false
    }

    fileprivate mutating func leave(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        waiting.removeValue(forKey: id)
    }
}

extension Locked {
    /// Waits until the version differs from `version` or the task is cancelled.
    package func wait(for waiters: any WritableKeyPath<Value, Waiters> & Sendable, after version: UInt64) async {
        let id = withLock { $0[keyPath: waiters].makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = withLock { $0[keyPath: waiters].enter(id, continuation, after: version) }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            withLock { $0[keyPath: waiters].leave(id) }?.resume()
        }
    }
}
