import DNSMessage
import DiscoverySystem
import Testing

@testable import AvahiEngine

@Suite("a look at the addresses of a host")
struct LookRoundTests {
    private let start = MonotonicTime(microseconds: 1_000_000_000)
    private let v4 = RecordData.a(0x0A4D_0001)
    private let v6 = RecordData.aaaa(high: 0xFD00_0000_0000_0000, low: 1)

    private func host(known: Set<RecordType> = [], isNew: Bool = true) -> LookRound {
        LookRound([.a, .aaaa], known: known, isNew: isNew, at: start)
    }

    private func at(_ milliseconds: Int64) -> MonotonicTime { start + Duration.milliseconds(milliseconds) }

    /// What is in the cache is told, and then that this was all, within some milliseconds.
    private func cached(_ records: [(RecordType, RecordData)], _ round: LookRound) -> LookRound {
        var round = round
        for (type, data) in records { round.appeared(data, type, isOwn: false, at: at(4)) }
        for type in [.a, .aaaa] as [RecordType] { round.cacheExhausted(type, at: at(5)) }
        return round
    }

    /// When the last lookup ends if nothing more arrives.
    private func end(_ round: LookRound) -> MonotonicTime? {
        var (round, end) = (round, MonotonicTime?.none)
        while let next = round.nextEnd {
            end = next
            _ = round.endLookups(at: next)
        }
        return end
    }

    @Test("with all in the cache it is over at once: nothing is asked")
    func cached() {
        for known in [[], [.a, .aaaa]] as [Set<RecordType>] {
            let round = cached([(.aaaa, v6), (.a, v4)], host(known: known))
            #expect(end(round) == at(5))
            #expect(round.found == [.a: [v4: false], .aaaa: [v6: false]])
        }
    }

    @Test("once one family has answered the other has its grace")
    func grace() {
        #expect(end(cached([(.a, v4)], host())) == at(5) + LookRound.grace)
        #expect(end(cached([(.aaaa, v6)], host())) == at(5) + LookRound.grace)
    }

    @Test("the lookup that has its answer is over before the other's grace is")
    func oneByOne() {
        var round = cached([(.a, v4)], host())
        #expect(round.nextEnd == at(5))
        #expect(round.endLookups(at: at(5)) == [.a])
        #expect(round.nextEnd == at(5) + LookRound.grace)
        round.appeared(v6, .aaaa, isOwn: false, at: at(30))
        #expect(round.nextEnd == at(30) + LookRound.gathering)
        #expect(round.endLookups(at: at(50)) == [.aaaa])
        #expect(round.nextEnd == nil)
        #expect(round.found == [.a: [v4: false], .aaaa: [v6: false]])
    }

    @Test("addresses of one packet are gathered; a family of which nothing more comes is not waited for")
    func gathering() {
        var round = cached([], host())
        #expect(end(round) == start + LookRound.limit)
        round.appeared(v4, .a, isOwn: false, at: at(60))
        #expect(end(round) == at(60) + LookRound.grace)
        round.ended(.aaaa)
        #expect(end(round) == at(60) + LookRound.gathering)
        round.ended(.a)
        #expect(round.nextEnd == nil)
    }

    @Test("before the cache was told nothing is known")
    func early() {
        var round = host()
        round.appeared(v4, .a, isOwn: false, at: at(1))
        round.appeared(v6, .aaaa, isOwn: false, at: at(1))
        round.cacheExhausted(.a, at: at(2))
        #expect(end(round) == start + LookRound.limit)
        round.cacheExhausted(.aaaa, at: at(3))
        #expect(end(round) == at(3))
    }

    @Test("a family that a known host never had is not waited for, one that it had is asked for")
    func known() {
        #expect(end(cached([(.a, v4)], host(known: [.a], isNew: false))) == at(5))
        #expect(end(cached([(.a, v4)], host(known: [.a, .aaaa], isNew: false))) == at(5) + LookRound.doubt)
        #expect(end(cached([(.a, v4)], host(known: [.a], isNew: true))) == at(5) + LookRound.doubt)
    }

    @Test("no look takes as long as the shortest-lived record lives, whatever comes or does not")
    func bounded() throws {
        #expect(LookRound.limit < .seconds(1))
        for known in [[], [.a], [.a, .aaaa]] as [Set<RecordType>] {
            var rounds = [host(known: known), cached([], host(known: known))]
            for milliseconds in [0, 450, 899] as [Int64] {
                var late = cached([], host(known: known))
                late.appeared(v4, .a, isOwn: false, at: at(milliseconds))
                rounds.append(late)
            }
            for round in rounds { #expect(try #require(end(round)) <= start + LookRound.limit) }
        }
    }

    @Test("64 records of a family are kept, and that a record is this machine's whoever else sends it")
    func records() {
        var round = host()
        for number in 0..<1_000 { round.appeared(.a(UInt32(number)), .a, isOwn: number < 64, at: at(3)) }
        for number in 0..<1_000 { round.appeared(.a(UInt32(number)), .a, isOwn: false, at: at(4)) }
        #expect(round.found[.a]?.count == LookRound.mostRecords)
        #expect(round.found[.a]?.values.allSatisfy { $0 } == true)
    }
}
