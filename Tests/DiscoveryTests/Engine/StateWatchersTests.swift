import Discovery
import DiscoverySystem
import Testing

@Suite struct StateWatchersTests {
    @Test func whoCancelsFromWithinAReportHearsNothingMore() async {
        let watchers = StateWatchers(.up)
        let (states, sink) = AsyncStream.makeStream(of: EngineState.self)
        let operation = Locked<(any EngineOperation)?>(nil)
        let watcher = watchers.watch { state in
            sink.yield(state)
            if state != .up {
                operation.withLock { $0 }?.cancel()
                sink.finish()
            }
        }
        operation.withLock { $0 = watcher }
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next() == .up)
        watchers.became(.down("silence"))
        watchers.became(.up)
        #expect(await iterator.next() == .down("silence"))
        #expect(await iterator.next() == nil)
    }

    @Test func whoCancelsBeforeTheFirstReportHearsNothing() async {
        let watchers = StateWatchers(.up)
        let (states, sink) = AsyncStream.makeStream(of: EngineState.self)
        let heard = Locked(0)
        // While this report is made no other is.
        let first = watchers.watch { state in
            if state == .up { watchers.watch { _ in heard.withLock { $0 += 1 } }.cancel() }
            sink.yield(state)
        }
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next() == .up)
        watchers.became(.down("silence"))
        #expect(await iterator.next() == .down("silence"))
        #expect(heard.withLock { $0 } == 0)
        first.cancel()
    }

    /// What is reported of states that come one after another.
    private func reports(of states: [EngineState?], by watchers: StateWatchers, count: Int) async -> [EngineState] {
        let (heard, sink) = AsyncStream.makeStream(of: EngineState.self)
        let watch = watchers.watch { sink.yield($0) }
        for state in states {
            watchers.note(state)
            watchers.tell()
        }
        var reports: [EngineState] = []
        for await state in heard.prefix(count) { reports.append(state) }
        watch.cancel()
        return reports
    }

    @Test func aStateThatIsNotKnownIsNotReported() async {
        let watchers = StateWatchers()
        let states: [EngineState?] = [.up, .up, .down("a"), .down("b"), nil, .down("b")]
        #expect(
            await reports(of: states, by: watchers, count: 4) == [.up, .down("a"), .down("b"), .down("b")])
        #expect(watchers.isEmpty)
    }

    @Test func anotherReasonAloneIsNotReportedWhereReasonsAreNotTold() async {
        let watchers = StateWatchers(tellsReasons: false)
        let states: [EngineState?] = [.down("a"), .down("b"), .up]
        #expect(await reports(of: states, by: watchers, count: 2) == [.down("a"), .up])
    }
}
