import Synchronization
import Testing

/// Lets only a few tests use the machine at a time, so that the times they look at are discoverd's and not the crowd's.
struct LabSlot: SuiteTrait, TestTrait, TestScoping {
    private static let slots = Slots(3)
    /// True for a test that wants no other beside it.
    var isExclusive = false

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A test that is exclusive has the suite's trait too, and must not take a slot twice.
        let isOwn = isExclusive || !test.traits.contains { ($0 as? LabSlot)?.isExclusive == true }
        guard testCase != nil, isOwn else { return try await function() }
        let count = isExclusive ? Self.slots.count : 1
        await Self.slots.take(count)
        defer { Self.slots.give(count) }
        try await function()
    }

    /// A semaphore that serves in the order of asking.
    private final class Slots: Sendable {
        private struct State {
            var free: Int
            var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

            mutating func served() -> [CheckedContinuation<Void, Never>] {
                var served: [CheckedContinuation<Void, Never>] = []
                while let first = waiting.first, first.count <= free {
                    free -= first.count
                    served.append(waiting.removeFirst().continuation)
                }
                return served
            }
        }

        let count: Int
        private let state: Mutex<State>

        init(_ count: Int) {
            self.count = count
            state = Mutex(State(free: count))
        }

        func take(_ count: Int) async {
            await withCheckedContinuation { continuation in
                resume { $0.waiting.append((count, continuation)) }
            }
        }

        func give(_ count: Int) { resume { $0.free += count } }

        private func resume(after change: (inout State) -> Void) {
            let served = state.withLock { state in
                change(&state)
                return state.served()
            }
            for continuation in served { continuation.resume() }
        }
    }
}

extension Trait where Self == LabSlot {
    /// The test takes one of the few slots of the lab.
    static var labSlot: Self { Self() }
    /// The test has the machine for itself, as far as the lab goes.
    static var labAlone: Self { Self(isExclusive: true) }
}
