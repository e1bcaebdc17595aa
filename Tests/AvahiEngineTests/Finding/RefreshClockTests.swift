import DiscoverySystem
import Testing

@testable import AvahiEngine

@Suite("when a service is looked at again")
struct RefreshClockTests {
    /// Milliseconds between looks of one service among so many.
    private func times(_ count: Int, among all: Int) -> [Int64] {
        var clock = RefreshClock()
        return (0..<count).map { clock.delay(afterLooks: $0, among: all).wholeMicroseconds / 1_000 }
    }

    @Test("soon after a change, later less often")
    func few() {
        let times = times(20, among: 3)
        #expect(times[0] >= 1_000 && times[0] < 2_000)
        #expect(times[1] == 2_000 && times[2] <= 4_000 && times[3] <= 8_000)
        for time in times[4...] { #expect(time > 7_000 && time <= 10_000) }
    }

    @Test("looks lie between whole seconds, at whose end records run out")
    func betweenSeconds() {
        var clock = RefreshClock()
        for number in 0..<2_000 {
            let first = clock.delay(afterLooks: 0, among: number).wholeMicroseconds / 1_000 % 1_000
            #expect((350...650).contains(first), "\(first)")
            let later = clock.delay(afterLooks: 1 + number % 7, among: number).wholeMicroseconds % 1_000_000
            #expect(later == 0)
        }
    }

    @Test("of a thousand no more than some ten a second, spread, and none later than after two minutes")
    func many() {
        var clock = RefreshClock()
        var bySecond: [Int64: Int] = [:]
        for _ in 0..<1_000 {
            bySecond[clock.delay(afterLooks: 9, among: 1_000).wholeMicroseconds / 1_000_000, default: 0] += 1
        }
        #expect(bySecond.keys.allSatisfy { (89...120).contains($0) })
        #expect(bySecond.values.allSatisfy { $0 <= 60 })
        #expect(bySecond.count > 20)
        #expect(clock.delay(afterLooks: .max, among: .max) <= .seconds(120))
    }
}
