import Foundation
import Testing

/// Runs a process test when the machine has room for it, so that the times it measures are discoverd's rather than the crowd's. Ends a test
/// that takes too long, counting from when it may run, not from when it began to wait.
struct LabSlot: SuiteTrait, TestTrait, TestScoping {
    /// How long a test may take. The longest take a minute on an idle machine.
    private static let limit = Duration.seconds(240)
    /// True within a test that may already run: its suites' traits have nothing left to do.
    @TaskLocal private static var isHeld = false

    enum Turn {
        case usual
        /// Before the usual ones, so that nothing waits for it at the end: long tests, and those of serialized suites.
        case first
        /// After all others, with no other test beside it.
        case alone
    }

    var turn = Turn.usual

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil, !Self.isHeld else { return try await function() }
        let turn = Self.turn(of: test)
        await LabSlots.shared.take(turn)
        let start = ContinuousClock.now
        defer {
            LabSlots.shared.give(turn)
            LabTimes.record(test, turn, took: ContinuousClock.now - start)
        }
        try await Self.$isHeld.withValue(true) {
            try await withoutActuallyEscaping(function) { try await Self.limited($0) }
        }
    }

    private static func turn(of test: Test) -> Turn {
        // Of the suite's trait and the test's own, the test's comes last.
        if let turn = test.traits.compactMap({ ($0 as? LabSlot)?.turn }).last(where: { $0 != .usual }) { return turn }
        // The suite's next test begins to wait when this one is over: behind all others, it would run after them.
        return test.traits.contains { $0 is ParallelizationTrait } ? .first : .usual
    }

    private static func limited(_ function: @escaping @concurrent @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await function()
                return true
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            if try await group.next() == false { Issue.record("it took longer than \(limit)") }
        }
    }
}

/// What a change does without: `make test-all` asks for it.
enum Everything {
    static let isAsked = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

    /// The cases of a test: all of them, or those that a change runs.
    static func of<Case>(_ all: [Case], inAChange some: [Case]) -> [Case] { isAsked ? all : some }
}

extension Trait where Self == ConditionTrait {
    /// The test is left out of a change.
    static var onlyInAll: Self { .enabled(if: Everything.isAsked, "only in make test-all") }
}

extension Trait where Self == LabSlot {
    /// The test runs beside others, as the machine has room.
    static var labSlot: Self { Self() }
    /// The test takes long, or others wait for it: it starts before the others.
    static var labLong: Self { Self(turn: .first) }
    /// The test has the machine to itself, as far as these tests are concerned: for tests that measure times, or flood.
    static var labAlone: Self { Self(turn: .alone) }
}
