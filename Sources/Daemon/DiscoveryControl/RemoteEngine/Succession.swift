internal import Discovery
internal import DiscoverySystem

/// A query that the daemon answers, and another engine once the daemon is away for too long.
final class Succession<Fact: Sendable>: EngineOperation, Succeeding {
    /// Who may report.
    private enum Reporter { case daemon, other, none }

    private struct Current {
        var operation: (any EngineOperation)?
        var isOver = false
    }

    private let reporter = Locked(Reporter.daemon)
    private let current = Locked(Current())
    private let report: @Sendable ([Fact]) -> Void
    private let start: @Sendable (any DiscoveryEngine, @escaping @Sendable ([Fact]) -> Void) -> any EngineOperation

    /// - Parameters:
    ///   - report: receives all facts, in order.
    ///   - start: starts the query on another engine.
    init(
        reporting report: @escaping @Sendable ([Fact]) -> Void,
        start: @escaping @Sendable (any DiscoveryEngine, @escaping @Sendable ([Fact]) -> Void) -> any EngineOperation
    ) {
        (self.report, self.start) = (report, start)
    }

    /// What the daemon reports.
    func received(_ facts: [Fact]) { pass(facts, from: .daemon) }

    /// The operation that the daemon carries out; called once.
    func began(_ operation: any EngineOperation) { hold(operation) { $0.operation == nil } }

    /// Goes on with another engine. Called once at most.
    func goOver(to other: any DiscoveryEngine) {
        let isOpen = reporter.withLock { reporter in
            guard reporter == .daemon else { return false }
            reporter = .other
            return true
        }
        guard isOpen else { return }
        let operation = start(other) { [weak self] facts in self?.pass(facts, from: .other) }
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

    private func pass(_ facts: [Fact], from sender: Reporter) {
        // Reporting under the lock keeps facts in order; reports return quickly.
        reporter.withLock { reporter in
            guard reporter == sender else { return }
            report(facts)
        }
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
