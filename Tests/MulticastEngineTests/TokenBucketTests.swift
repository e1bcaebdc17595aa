import DNSSD
import Testing

@Suite("TokenBucket")
struct TokenBucketTests {
    @Test("Never more than the burst and so many a second, in any window of time", arguments: 0..<20 as Range<UInt64>)
    func windows(seed: UInt64) {
        var (generator, rate) = (SeededGenerator(seed: seed), TokenBucket(burst: 5, perSecond: 10))
        var (now, taken): (Duration, [Duration]) = (.seconds(1), [])
        for _ in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...200, using: &generator))
            let reserve = Double(Int.random(in: 0...3, using: &generator))
            let next = rate.next(at: now, leaving: reserve)
            let isNow = rate.take(at: now, leaving: reserve)
            #expect(isNow == (next <= now))
            if isNow { taken.append(now) }
        }
        for (index, begin) in taken.enumerated() {
            let count = taken[index...].prefix { $0 - begin <= .seconds(2) }.count
            #expect(count <= 5 + 20 + 1)
        }
        #expect(taken.count > 100)
    }

    @Test("What is left for others is there for them, and for them alone")
    func reserve() {
        var rate = TokenBucket(burst: 10, perSecond: 100)
        let now = Duration.seconds(1)
        var taken = 0
        while rate.take(at: now, leaving: 3) { taken += 1 }
        #expect(taken == 7)
        #expect(rate.next(at: now, leaving: 3) > now + .milliseconds(9))
        #expect(rate.next(at: now) == now)
        while rate.take(at: now) { taken += 1 }
        #expect(taken == 10)
    }
}
