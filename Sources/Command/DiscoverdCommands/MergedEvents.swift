#if Commands
internal import DNSSD
internal import Discovery

/// The events of several streams, a batch at a time. A stream is asked for more when its last batch was taken, so that nothing piles up here.
struct MergedEvents<Event: Sendable> {
    private let streams: [EventStream<Event>]
    private static var batchLimit: Int { 512 }

    init(_ streams: [EventStream<Event>]) { self.streams = streams }

    /// Calls `body` with each batch and the number of its stream, until it returns a result or every stream has ended.
    func first<Result>(_ body: (Int, [Event]) async throws -> Result?) async throws -> Result? {
        if streams.count == 1, let stream = streams.first {
            var iterator = stream.makeAsyncIterator()
            while let batch = try await iterator.nextBatch(atMost: Self.batchLimit) {
                if let result = try await body(0, batch) { return result }
            }
            return nil
        }
        let turns = streams.map { _ in AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }
        // One batch of each stream at most waits here.
        let (batches, collector) = AsyncThrowingStream<(Int, [Event]), any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(streams.count + 1))
        let task = Task {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, stream) in streams.enumerated() {
                        let turn = turns[index].stream
                        group.addTask {
                            var events = stream.makeAsyncIterator()
                            var turns = turn.makeAsyncIterator()
                            while let batch = try await events.nextBatch(atMost: Self.batchLimit) {
                                collector.yield((index, batch))
                                if await turns.next() == nil { return }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                collector.finish()
            } catch {
                collector.finish(throwing: error)
            }
        }
        defer { task.cancel() }
        for try await (index, batch) in batches {
            if let result = try await body(index, batch) { return result }
            turns[index].continuation.yield()
        }
        return nil
    }
}
#endif
