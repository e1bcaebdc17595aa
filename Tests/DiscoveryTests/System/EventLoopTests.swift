import DiscoverySystem
import Testing

@Suite struct EventLoopTests {
    /// An actor on the loop, like the engine.
    private actor Counter {
        let loop: EventLoop
        var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop) { self.loop = loop }

        func add() { count += 1 }
        var isOnLoop: Bool { loop.isOnLoop }
    }

    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try #require(EventLoop(named: "test"))
        try await body(loop)
        await withCheckedContinuation { continuation in loop.stop { continuation.resume() } }
    }

    @Test func runsAnActorOnItsThread() async throws {
        try await withLoop { loop in
            let counter = Counter(loop: loop)
            #expect(await counter.isOnLoop)
            #expect(!loop.isOnLoop)
            await withTaskGroup { group in
                for _ in 0..<100 { group.addTask { for _ in 0..<100 { await counter.add() } } }
            }
            #expect(await counter.count == 10_000)
        }
    }

    @Test func runsBlocksInTheOrderInWhichTheyWerePosted() async throws {
        try await withLoop { loop in
            let seen = Locked<[Int]>([])
            for number in 0..<1_000 { loop.post { seen.withLock { $0.append(number) } } }
            await withCheckedContinuation { continuation in loop.post { continuation.resume() } }
            #expect(seen.withLock { $0 } == Array(0..<1_000))
        }
    }

    @Test func timersFireOnceInOrderAndNotAfterTheyWereFreed() async throws {
        try await withLoop { loop in
            let fired = Locked<[String]>([])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.post {
                    let freed = LoopTimer(loop: loop) { fired.withLock { $0.append("freed") } }
                    let late = LoopTimer(loop: loop)
                    let early = LoopTimer(loop: loop) {
                        fired.withLock { $0.append("early") }
                        // From within a callback, even of a timer that is due in the same turn.
                        freed.free()
                    }
                    late.fire = { [unowned late] in
                        fired.withLock { $0.append("late") }
                        early.free()
                        late.free()
                        continuation.resume()
                    }
                    early.set(after: .milliseconds(1))
                    freed.set(after: .milliseconds(20))
                    late.set(after: .milliseconds(40))
                }
            }
            #expect(fired.withLock { $0 } == ["early", "late"])
        }
    }

    @Test func stopsAfterWhatWasPostedBefore() async throws {
        let loop = try #require(EventLoop(named: "test"))
        let ran = Locked(false)
        loop.post { ran.withLock { $0 = true } }
        await withCheckedContinuation { continuation in loop.stop { continuation.resume() } }
        #expect(ran.withLock { $0 })
    }
}
