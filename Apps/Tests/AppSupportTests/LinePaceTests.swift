import CommandFrame
import Testing

@Suite("The pace of lines")
struct LinePaceTests {
    @Test("a burst is shown, then one every 5 s, which says how many were not")
    func pace() {
        let start = ContinuousClock.now
        var pace = LinePace(now: start)
        let shown = (0..<1000).compactMap { _ in pace.line(now: start) }
        #expect(shown == [Int](repeating: 0, count: LinePace.burst))
        #expect(pace.line(now: start + .seconds(4)) == nil)
        #expect(pace.line(now: start + .seconds(5)) == 981)
        #expect(pace.line(now: start + .seconds(6)) == nil)
        #expect(pace.line(now: start + .seconds(10_000_000)) == 1)
        #expect(pace.line(now: start + .seconds(10_000_000)) == 0)
    }
}
