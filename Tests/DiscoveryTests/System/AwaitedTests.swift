import DiscoverySystem
import Testing

@Suite("Waiting for a value under a lock", .timeLimit(.minutes(5))) struct AwaitedTests {
    /// Takes one of a number.
    @Sendable private static func take(_ number: inout Int) -> Int? {
        guard number > 0 else { return nil }
        number -= 1
        return number
    }

    @Test("what is there is taken at once; a task that is cancelled takes nothing, before it waits, too")
    func atOnce() async {
        let places = Awaited(2)
        #expect(await places.wait(for: Self.take) == 1)
        let task = Task { () -> Int? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await places.wait(for: Self.take)
        }
        #expect(await task.value == nil)
        #expect(places.value == 1)
    }

    @Test("of many that wait each change lets as many go on as it makes possible; the rest can be cancelled")
    func many() async {
        let (places, waiting) = (Awaited(0), Awaited(0))
        let (results, continuation) = AsyncStream<Int?>.makeStream()
        let tasks = (0..<10).map { _ in
            Task {
                // Each is counted once: it looks at the number before it waits, and again after each change.
                var isCounted = false
                let result = await places.wait { number -> Int? in
                    if !isCounted { waiting.change { $0 += 1 } }
                    isCounted = true
                    return Self.take(&number)
                }
                continuation.yield(result)
            }
        }
        _ = await waiting.wait { $0 == 10 ? true : nil }
        var taken = results.makeAsyncIterator()
        for count in [1, 2, 4] {
            places.change { $0 += count }
            for _ in 0..<count { #expect(await taken.next() != .some(nil)) }
            #expect(places.value == 0)
        }
        for task in tasks { task.cancel() }
        for _ in 0..<3 { #expect(await taken.next() == .some(nil)) }
        places.change { $0 = 1 }
        #expect(places.value == 1)
    }

    @Test("nothing is lost where changes and cancellations meet")
    func races() async {
        for _ in 0..<500 {
            let places = Awaited(0)
            let waiter = Task { await places.wait(for: Self.take) }
            let other = Task { await places.wait(for: Self.take) }
            async let change: Void = places.change { $0 += 1 }
            waiter.cancel()
            await change
            let first = await waiter.value
            if first != nil { places.change { $0 += 1 } }
            #expect(await other.value != nil)
            #expect(places.value == 0)
        }
    }
}
