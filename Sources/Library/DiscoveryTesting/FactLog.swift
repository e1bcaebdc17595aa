import Discovery
import DiscoveryPOSIX
import Libc

/// Records an engine's reports for a check to wait on.
final class FactLog<Fact: Sendable>: Sendable {
    private struct State {
        var facts: [Fact] = []
        var emptyBatches = 0
        var waiters = Waiters()
    }

    private let state = Locked(State())
    private let time: any TimeSource

    init(by time: any TimeSource) { self.time = time }

    var facts: [Fact] { state.withLock { $0.facts } }
    var emptyBatches: Int { state.withLock { $0.emptyBatches } }

    /// The closure to give to the engine.
    var report: @Sendable ([Fact]) -> Void {
        { [self] facts in
            let wake = state.withLock { state in
                if facts.isEmpty { state.emptyBatches += 1 }
                state.facts += facts
                return state.waiters.changed()
            }
            wake()
        }
    }

    /// Waits until `isThere` holds for all reports so far.
    /// - Returns: all reports so far.
    func wait(
        for what: String, _ patience: Duration, _ isThere: @escaping @Sendable ([Fact]) -> Bool
    ) async throws -> [Fact] {
        let found = await withTaskGroup(of: [Fact]?.self) { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    let (facts, version) = state.withLock { ($0.facts, $0.waiters.version) }
                    if isThere(facts) { return facts }
                    await state.wait(for: \.waiters, after: version)
                }
                return nil
            }
            group.addTask { [time] in
                try? await time.sleep(until: time.now + patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let found else { throw EngineConformance.Failure("waited \(patience) for \(what); there were: \(facts)") }
        return found
    }
}

/// Detects a report on the thread that is still inside the call that started the operation.
final class CallerThread: Sendable {
    private struct State {
        var caller: pthread_t?
        var wasReentered = false
    }

    private let state = Locked(State())

    var wasReentered: Bool { state.withLock { $0.wasReentered } }

    func during<Result>(_ call: () -> Result) -> Result {
        state.withLock { $0.caller = pthread_self() }
        defer { state.withLock { $0.caller = nil } }
        return call()
    }

    func noteReport() {
        state.withLock { state in
            if let caller = state.caller, pthread_equal(caller, pthread_self()) != 0 { state.wasReentered = true }
        }
    }
}
