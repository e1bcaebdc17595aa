import Discovery
import DiscoveryTesting
import Testing

@Suite struct DeadlineTableTests {
    @Test func whatIsDueIsTakenOut() {
        var deadlines = DeadlineTable<String>()
        #expect(deadlines.next == nil)
        deadlines.set("a", to: .milliseconds(101))
        deadlines.set("b", to: .milliseconds(50))
        deadlines.set("c", to: .seconds(1))
        #expect(deadlines.next == .milliseconds(50))
        #expect(deadlines.due(.milliseconds(49)) == [])
        #expect(Set(deadlines.due(.milliseconds(110))) == ["a", "b"])
        #expect(deadlines.next == .seconds(1))
        deadlines.set("c", to: nil)
        #expect(deadlines.next == nil)
        #expect(deadlines.due(.seconds(2)) == [])
    }

    @Test func deadlinesThatMoveAreDueOnce() {
        var deadlines = DeadlineTable<String>()
        deadlines.set("a", to: .seconds(1))
        deadlines.set("a", to: .seconds(2))
        #expect(deadlines.due(.seconds(1)) == [])
        #expect(deadlines.next == .seconds(2))
        #expect(deadlines.due(.seconds(2)) == ["a"])
    }

    @Test func alarmsRingInTheOrderOfTimeAndTheTaskEndsWithThem() async {
        let time = TestTime()
        let alarmClock = AlarmClock(time: time)
        let (stream, rung) = AsyncStream<String>.makeStream()
        let late = alarmClock.make { _ in rung.yield("late") }
        let early = alarmClock.make { _ in rung.yield("early") }
        late.set(to: .seconds(2))
        early.set(to: .seconds(1))
        var iterator = stream.makeAsyncIterator()
        // The task for the later deadline is cancelled only once the other sleeps, so wait for the earlier one.
        await time.sleeper(until: .seconds(1))
        time.advance(by: .seconds(1))
        #expect(await iterator.next() == "early")
        await time.sleeper(until: .seconds(2))
        time.advance(by: .seconds(1))
        #expect(await iterator.next() == "late")
        #expect(time.sleepers == 0)
    }
}
