import Testing

@testable import DiscoverySystem

@Suite struct TimerListTests {
    /// Compared with a plain list: after random insertions, moves and removals, the same timers are due, in the same order.
    @Test func givesWhatIsDueInOrder() throws {
        var generator = SystemRandomNumberGenerator()
        for count in [1, 2, 3, 10, 257] {
            // The loop does not run, so only this test touches its timers.
            let loop = try #require(EventLoop(paused: "test"))
            let timers = (0..<count).map { _ in LoopTimer(loop: loop) }
            for step in 0..<1_000 {
                let timer = timers[Int.random(in: 0..<count, using: &generator)]
                let isSet = Int.random(in: 0..<3, using: &generator) > 0
                timer.deadline = isSet ? MonotonicTime(microseconds: .random(in: 0..<100, using: &generator)) : nil
                guard step % 10 == 0 else { continue }
                let deadlines = timers.compactMap(\.deadline).sorted()
                #expect(loop.timers.count == deadlines.count)
                #expect(loop.timers.first == deadlines.first)
                let now = MonotonicTime(microseconds: 50)
                #expect(loop.timers.due(at: now).compactMap(\.deadline) == deadlines.filter { $0 <= now })
            }
        }
    }
}
