import Discovery
import Testing

/// Times that no process will live to see.
@Suite struct TimeSourceTests {
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2, .seconds(1 << 40)])
    func isSleptUntilAndCancelled(_ deadline: Duration) async {
        let task = Task { try await SystemTime().sleep(until: SystemTime().now + deadline) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .seconds(Int64.min) * 2])
    func thatArePastHaveCome(_ deadline: Duration) async throws {
        try await SystemTime().sleep(until: deadline)
    }

    @Test func areNotDue() {
        var deadlines = DeadlineTable<String>()
        deadlines.set("a", to: .seconds(Int64.max) + .milliseconds(1))
        #expect(deadlines.due(.seconds(1_000_000)) == [])
        deadlines.set("b", to: .seconds(Int64.min) - .milliseconds(1))
        #expect(deadlines.due(.zero) == ["b"])
    }
}
