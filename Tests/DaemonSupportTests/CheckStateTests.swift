import Discovery
import Testing

@Suite struct CheckStateTests {
    private var state = CheckState(rise: 2, fall: 3)

    @Test mutating func theFirstResultDecides() {
        #expect(state.health == .unknown)
        #expect(state.checked(.passed, at: .zero) == .passing)
        var other = CheckState(rise: 2, fall: 3)
        #expect(other.checked(.failed(reason: "x"), at: .zero) == .failing(reason: "x"))
    }

    @Test mutating func fallFailuresInARowWithdraw() {
        _ = state.checked(.passed, at: .zero)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(1)) == nil)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(2)) == nil)
        #expect(state.checked(.passed, at: .seconds(3)) == nil)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(4)) == nil)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(5)) == nil)
        #expect(state.checked(.failed(reason: "y"), at: .seconds(6)) == .failing(reason: "y"))
    }

    @Test mutating func risePassesInARowBringItBack() {
        _ = state.checked(.failed(reason: "x"), at: .zero)
        #expect(state.checked(.passed, at: .seconds(1)) == nil)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(2)) == nil)
        #expect(state.checked(.passed, at: .seconds(3)) == nil)
        #expect(state.checked(.passed, at: .seconds(4)) == .passing)
    }

    @Test mutating func anotherReasonIsNewsTheSameIsNot() {
        _ = state.checked(.failed(reason: "x"), at: .zero)
        #expect(state.checked(.failed(reason: "x"), at: .seconds(1)) == nil)
        #expect(state.checked(.failed(reason: "y"), at: .seconds(2)) == .failing(reason: "y"))
    }

    /// Fails three times, then passes until the service is advertised again; one check per second.
    /// - Returns: the time since the last failure.
    private mutating func fallAndRise(at now: inout Duration) -> Duration {
        for _ in 0..<3 {
            now += .seconds(1)
            _ = state.checked(.failed(reason: "x"), at: now)
        }
        let failed = now
        repeat {
            now += .seconds(1)
            _ = state.checked(.passed, at: now)
        } while state.health != .passing && now < failed + .seconds(1000)
        return now - failed
    }

    @Test mutating func flappingIsDamped() {
        var now: Duration = .zero
        _ = state.checked(.passed, at: now)
        let waits = (0..<8).map { _ in fallAndRise(at: &now) }
        #expect(waits == [2, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
    }

    @Test mutating func theHoldDownIsTold() {
        var now: Duration = .zero
        _ = state.checked(.passed, at: now)
        _ = fallAndRise(at: &now)
        for second in 1...3 { _ = state.checked(.failed(reason: "x"), at: now + .seconds(second)) }
        #expect(state.checked(.passed, at: now + .seconds(4)) == nil)
        #expect(
            state.checked(.passed, at: now + .seconds(5))
                == .failing(reason: "works again, but failed 2 times lately: held back for 8 s"))
        #expect(state.checked(.passed, at: now + .seconds(6)) == nil)
    }

    @Test mutating func whoPassesForLongIsForgiven() {
        var now: Duration = .zero
        _ = state.checked(.passed, at: now)
        for _ in 0..<4 { _ = fallAndRise(at: &now) }
        now += CheckState.forgetting
        #expect(fallAndRise(at: &now) == .seconds(2))
        #expect(state.flaps == 1)
    }
}
