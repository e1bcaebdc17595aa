import DNSSD
import Discovery
import Testing

/// The states covered by SwiftNIO's Happy Eyeballs tests, plus limits on attempts, and late addresses.
@Suite("The race (RFC 8305 §5)")
struct RaceTests {
    private let limits = RaceLimits()

    private func race(_ limits: RaceLimits? = nil) -> Race<String> { Race(limits: limits ?? self.limits, now: .zero) }

    private func ms(_ number: Int) -> Duration { .milliseconds(number) }

    @Test("nothing is done before an address is known, but the end is near from the start")
    func waiting() {
        var race = race()
        #expect(race.nextDeadline == .seconds(10))
        #expect(race.timePassed(now: ms(9999)) == nil)
        #expect(race.timePassed(now: .seconds(10)) == nil)
        #expect(race.outcome == .timedOut)
        #expect(race.nextDeadline == nil)
    }

    @Test("no address at all")
    func nothing() {
        var race = race()
        #expect(race.resolved([], now: .zero) == nil)
        race.listCompleted(now: ms(1))
        #expect(race.outcome == .failed)
    }

    @Test("one address that answers")
    func one() {
        var race = race()
        #expect(race.resolved(["a"], now: .zero) == "a")
        race.listCompleted(now: .zero)
        #expect(race.outcome == nil)
        #expect(race.nextDeadline == .seconds(10), "there is nothing to start at the next turn")
        race.succeeded("a")
        #expect(race.outcome == .won("a"))
        #expect(race.outcome == .won("a"))
    }

    @Test("one address that fails, before and after the list is complete")
    func oneFails() {
        var first = race()
        _ = first.resolved(["a"], now: .zero)
        first.listCompleted(now: .zero)
        #expect(first.failed("a", now: ms(3)) == nil)
        #expect(first.outcome == .failed)

        var second = race()
        _ = second.resolved(["a"], now: .zero)
        #expect(second.failed("a", now: ms(3)) == nil, "another may come")
        second.listCompleted(now: ms(4))
        #expect(second.outcome == .failed)
    }

    @Test("the second starts after the delay, beside the first, which may still win")
    func delay() {
        var race = race()
        #expect(race.resolved(["a", "b"], now: .zero) == "a")
        #expect(race.nextDeadline == ms(250))
        #expect(race.timePassed(now: ms(249)) == nil)
        #expect(race.timePassed(now: ms(250)) == "b")
        #expect(race.timePassed(now: ms(600)) == nil)
        race.succeeded("a")
        #expect(race.outcome == .won("a"))
    }

    @Test("the second wins, and the first is cancelled")
    func secondWins() {
        var race = race()
        _ = race.resolved(["a", "b", "c"], now: .zero)
        _ = race.timePassed(now: ms(250))
        race.succeeded("b")
        #expect(race.outcome == .won("b"))
        #expect(race.timePassed(now: ms(500)) == nil, "c is never started")
    }

    @Test("a success that comes too late does not win, whatever the end was")
    func lateSuccess() {
        var won = race()
        _ = won.resolved(["a", "b"], now: .zero)
        _ = won.timePassed(now: ms(250))
        won.succeeded("b")
        won.succeeded("a")
        #expect(won.outcome == .won("b"), "the winner stays")
        won.succeeded("b")
        #expect(won.failed("a", now: ms(300)) == nil)

        var cancelled = race()
        _ = cancelled.resolved(["a"], now: .zero)
        cancelled.cancelled()
        #expect(cancelled.outcome == .cancelled)
        cancelled.succeeded("a")
        #expect(cancelled.outcome == .cancelled)

        var late = race()
        _ = late.resolved(["a"], now: .zero)
        #expect(late.timePassed(now: .seconds(10)) == nil)
        #expect(late.outcome == .timedOut)
        late.succeeded("a")
        #expect(late.outcome == .timedOut)
    }

    @Test("two simultaneous successes: the first reported wins")
    func twoSuccesses() {
        var race = race()
        _ = race.resolved(["a", "b"], now: .zero)
        _ = race.timePassed(now: ms(250))
        race.succeeded("a")
        #expect(race.outcome == .won("a"))
        race.succeeded("b")
        #expect(race.outcome == .won("a"))
    }

    @Test("a failure starts the next immediately, and the delay counts from there")
    func failureStartsNext() {
        var race = race()
        _ = race.resolved(["a", "b", "c"], now: .zero)
        #expect(race.failed("a", now: ms(10)) == "b")
        #expect(race.nextDeadline == ms(260))
        #expect(race.timePassed(now: ms(250)) == nil, "the delay of the one that failed is over for nobody")
        #expect(race.timePassed(now: ms(260)) == "c")
    }

    @Test("all fail, one after another, without waiting")
    func allFail() {
        var race = race()
        _ = race.resolved(["a", "b", "c"], now: .zero)
        race.listCompleted(now: .zero)
        #expect(race.failed("a", now: ms(1)) == "b")
        #expect(race.failed("b", now: ms(2)) == "c")
        #expect(race.failed("c", now: ms(3)) == nil)
        #expect(race.outcome == .failed)
    }

    @Test("one fails while another runs: it ends only with the last")
    func failsBeside() {
        var race = race()
        _ = race.resolved(["a", "b"], now: .zero)
        race.listCompleted(now: .zero)
        _ = race.timePassed(now: ms(250))
        #expect(race.failed("a", now: ms(300)) == nil)
        #expect(race.failed("b", now: ms(400)) == nil)
        #expect(race.outcome == .failed)
    }

    @Test("a failure reported twice, or of an attempt that never started, changes nothing")
    func strangeFailures() {
        var race = race()
        _ = race.resolved(["a", "b", "c"], now: .zero)
        _ = race.failed("a", now: ms(1))
        #expect(race.failed("a", now: ms(2)) == nil)
        #expect(race.failed("x", now: ms(3)) == nil)
        race.succeeded("x")
        #expect(race.outcome == nil)
        race.succeeded("a")
        #expect(race.outcome == nil, "it cannot both fail and succeed")
    }

    @Test("a late address waits for its turn, beside a running attempt")
    func lateAddress() {
        var race = race()
        _ = race.resolved(["a"], now: .zero)
        #expect(race.resolved(["a", "b"], now: ms(100)) == nil)
        #expect(race.nextDeadline == ms(250))
        #expect(race.timePassed(now: ms(250)) == "b")
    }

    @Test("an address that arrives after the delay starts immediately")
    func veryLateAddress() {
        var race = race()
        _ = race.resolved(["a"], now: .zero)
        #expect(race.timePassed(now: ms(300)) == nil)
        #expect(race.resolved(["b", "a"], now: ms(400)) == "b")
    }

    @Test("an address that arrives after all others failed starts immediately")
    func addressAfterFailures() {
        var race = race()
        _ = race.resolved(["a"], now: .zero)
        _ = race.failed("a", now: ms(5))
        #expect(race.nextDeadline == .seconds(10))
        #expect(race.resolved(["a", "b"], now: ms(100)) == "b")
    }

    @Test("each list replaces the waiting addresses, in its order; started ones are not started again")
    func newOrder() {
        var race = race()
        _ = race.resolved(["a", "b", "c"], now: .zero)
        #expect(race.resolved(["d", "c", "a"], now: ms(10)) == nil)
        #expect(race.failed("a", now: ms(20)) == "d")
        #expect(race.failed("d", now: ms(30)) == "c")
        #expect(race.failed("c", now: ms(40)) == nil, "b is gone")
    }

    @Test("a candidate that is listed twice is started once")
    func duplicates() {
        var race = race()
        #expect(race.resolved(["a", "a", "b"], now: .zero) == "a")
        race.listCompleted(now: .zero)
        #expect(race.failed("a", now: ms(1)) == "b")
        #expect(race.failed("b", now: ms(2)) == nil)
        #expect(race.outcome == .failed)
    }

    @Test("at most 8 attempts, however many addresses there are (and a complete list is not needed to give up)")
    func atMostEight() {
        var race = race()
        var started: [String] = []
        func note(_ next: String?) { if let next { started.append(next) } }
        note(race.resolved((0..<32).map { "\($0)" }, now: .zero))
        for turn in 1..<20 { note(race.timePassed(now: ms(250 * turn))) }
        #expect(started == (0..<8).map { "\($0)" })
        #expect(race.nextDeadline == .seconds(10))
        for name in started.dropLast() { #expect(race.failed(name, now: .seconds(6)) == nil) }
        #expect(race.failed("7", now: .seconds(6)) == nil)
        #expect(race.outcome == .failed)
    }

    @Test("cancelled in every state")
    func cancelled() {
        var early = race()
        early.cancelled()
        #expect(early.outcome == .cancelled)
        #expect(early.resolved(["a"], now: ms(1)) == nil, "nothing is started afterwards")
        early.listCompleted(now: ms(1))
        #expect(early.outcome == .cancelled)

        var running = race()
        _ = running.resolved(["a", "b", "c"], now: .zero)
        _ = running.timePassed(now: ms(250))
        running.cancelled()
        #expect(running.outcome == .cancelled)
        running.cancelled()
        #expect(running.outcome == .cancelled)

        var over = race()
        _ = over.resolved(["a"], now: .zero)
        over.succeeded("a")
        over.cancelled()
        #expect(over.outcome == .won("a"))
    }

    @Test("the overall limit ends everything, also when it is noticed by another event")
    func overall() {
        var timer = race()
        _ = timer.resolved(["a", "b"], now: .zero)
        _ = timer.timePassed(now: ms(250))
        #expect(timer.timePassed(now: .seconds(10)) == nil)
        #expect(timer.outcome == .timedOut)

        var failure = race()
        _ = failure.resolved(["a", "b"], now: .zero)
        #expect(failure.failed("a", now: .seconds(10)) == nil)
        #expect(failure.outcome == .timedOut)

        var list = race()
        #expect(list.resolved(["a"], now: .seconds(11)) == nil)
        #expect(list.outcome == .timedOut)
    }

    @Test("limits are moved into their ranges (RFC 8305 §8)")
    func ranges() {
        #expect(RaceLimits(attemptDelay: ms(1)).attemptDelay == ms(100))
        #expect(RaceLimits(attemptDelay: .seconds(3)).attemptDelay == .seconds(2))
        #expect(RaceLimits(maximumAttempts: 0).maximumAttempts == 1)
        #expect(RaceLimits(overall: .seconds(-1)).overall == .zero)
    }

    @Test("another delay", arguments: [100, 250, 2000])
    func otherDelay(_ delay: Int) {
        var race = race(RaceLimits(attemptDelay: ms(delay)))
        _ = race.resolved(["a", "b"], now: ms(7))
        #expect(race.nextDeadline == ms(delay + 7))
        #expect(race.timePassed(now: ms(delay + 7)) == "b")
    }

    @Test("whatever happens, in whatever order: each starts once, 8 at most, one end, nothing starts after it")
    func anything() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            var race = race()
            var now = Duration.zero
            var started: Set<String> = []
            func note(_ next: String?) {
                if let next { #expect(race.outcome == nil && started.insert(next).inserted) }
            }
            var end: Race<String>.Outcome?
            for _ in 0..<40 {
                now += ms(Int.random(in: 0...400, using: &random))
                let name = "\(Int.random(in: 0..<12, using: &random))"
                switch Int.random(in: 0..<24, using: &random) {
                case 0: race.cancelled()
                case 1: if started.contains(name) { race.succeeded(name) }
                case 2: race.listCompleted(now: now)
                case 3..<8: note(race.resolved((0..<12).map { "\($0)" }.shuffled(using: &random), now: now))
                case 8..<14: note(race.failed(name, now: now))
                default: note(race.timePassed(now: now))
                }
                #expect(end == nil || end == race.outcome)
                end = race.outcome
                if let next = race.nextDeadline { #expect(end == nil && next <= .seconds(10)) }
            }
            note(race.timePassed(now: .seconds(20)))
            #expect(race.outcome != nil && started.count <= 8)
        }
    }
}
