internal import Discovery
internal import DiscoverySystem

/// A query that the daemon answers, and another engine once the daemon is away for too long.
final class Succession<Fact: Sendable>: EngineOperation, Succeeding {
    private struct Reporter {
        /// The other engine reports, and the daemon no more.
        var isOther = false
        /// The daemon has reported something.
        var daemonReported = false
    }

    private struct Current {
        var operation: (any EngineOperation)?
        var isOver = false
    }

    private let reporter = Locked(Reporter())
    private let current = Locked(Current())
    private let backend: @Sendable (EngineState) -> Fact
    private let report: @Sendable ([Fact]) -> Void
    private let start: @Sendable (any DiscoveryEngine, @escaping @Sendable ([Fact]) -> Void) -> any EngineOperation

    /// - Parameters:
    ///   - backend: makes the fact that says how the backend is.
    ///   - report: receives all facts, in order.
    ///   - start: starts the query on another engine.
    init(
        saying backend: @escaping @Sendable (EngineState) -> Fact,
        reporting report: @escaping @Sendable ([Fact]) -> Void,
        start: @escaping @Sendable (any DiscoveryEngine, @escaping @Sendable ([Fact]) -> Void) -> any EngineOperation
    ) {
        (self.backend, self.report, self.start) = (backend, report, start)
    }

    /// What the daemon reports.
    func received(_ facts: [Fact]) {
        // Reporting under the lock keeps facts in order; reports return quickly.
        reporter.withLock { reporter in
            guard !reporter.isOther else { return }
            reporter.daemonReported = true
            report(facts)
        }
    }

    /// The operation that the daemon carries out; called once.
    func began(_ operation: any EngineOperation) { hold(operation) { $0.operation == nil } }

    /// Goes on with another engine. Called once at most.
    func goOver(to other: any DiscoveryEngine) {
        let isFirst = reporter.withLock { reporter in
            guard !reporter.isOther else { return false }
            reporter.isOther = true
            // The stream of this query may not have noticed yet. Without this, what the daemon knew would count as still there, whatever the other
            // engine finds.
            if reporter.daemonReported { report([backend(.down("the daemon does not answer"))]) }
            return true
        }
        guard isFirst else { return }
        let operation = start(other) { [weak self] facts in self?.passOther(facts) }
        hold(operation) { _ in true }
    }

    /// Keeps the newest operation, and ends any other.
    private func hold(_ operation: any EngineOperation, if isWanted: (Current) -> Bool) {
        let ended = current.withLock { current -> (any EngineOperation)? in
            guard !current.isOver, isWanted(current) else { return operation }
            defer { current.operation = operation }
            return current.operation
        }
        ended?.cancel()
    }

    private func passOther(_ facts: [Fact]) {
        reporter.withLock { _ in report(facts) }
    }

    private func end() -> (any EngineOperation)? {
        current.withLock { current in
            current.isOver = true
            return current.operation.take()
        }
    }

    func cancel() { end()?.cancel() }

    func cancel(waitingAtMost limit: Duration) async -> Bool { await end()?.cancel(waitingAtMost: limit) ?? true }
}

/// A query that can go on with another engine.
protocol Succeeding: Sendable {
    func goOver(to other: any DiscoveryEngine)
}
