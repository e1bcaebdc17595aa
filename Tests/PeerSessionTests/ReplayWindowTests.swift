import PeerSession
import Testing

/// Which numbers count as having come.
@Suite("Peer session: replay window")
struct ReplayWindowTests {
    private func admitted(_ numbers: [UInt64]) -> [UInt64] {
        var window = ReplayWindow()
        return numbers.filter { number in
            defer { window.insert(number) }
            return window.admits(number)
        }
    }

    @Test("a number counts once, in whatever order numbers come; zero never")
    func once() {
        #expect(admitted([1, 3, 2, 2, 0, 3, 1, 4]) == [1, 3, 2, 4])
        #expect(admitted((1...3000).reversed()) == Array((1977...3000).reversed()))
    }

    @Test("1024 numbers are told apart; what is older counts as having come")
    func size() {
        #expect(admitted([1024, 1, 1]) == [1024, 1])
        #expect(admitted([1025, 1]) == [1025])
        #expect(admitted([5000, 3976, 3977, 3977]) == [5000, 3977])
    }

    @Test(
        "after a leap, numbers within the window are new though others had their places", arguments: [1023, 1024, 1025])
    func leap(_ gap: UInt64) {
        var window = ReplayWindow()
        for number in 1...2000 as ClosedRange<UInt64> { window.insert(number) }
        window.insert(2000 + gap)
        for number in 1...2000 + gap {
            #expect(window.admits(number) == (number > 2000 && number < 2000 + gap && gap < 1024 + number - 2000))
        }
    }

    @Test("the greatest number has its place, too")
    func end() {
        #expect(admitted([.max, .max - 1, .max - 1, .max, .max - 1024, 1]) == [.max, .max - 1])
    }

    @Test("as with a set of all numbers that came", arguments: 0..<20)
    func naive(_ seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        var base: UInt64 = 2000
        for _ in 0..<2000 {
            base += random(40) == 0 ? random(3000) : random(3)
            let number = base - random(1400)
            let newest = seen.max() ?? 0
            let isNew = !seen.contains(number) && (number > newest || newest - number < 1024)
            #expect(window.admits(number) == isNew)
            window.insert(number)
            if isNew { seen.insert(number) }
        }
    }
}
