import DNSSD
import DiscoverySystem
import Testing

@testable import AvahiEngine

@Suite("a look at a host's addresses")
struct AddressRoundTests {
    private let start = MonotonicTime(microseconds: 1_000_000_000)
    private let v4 = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))
    private let v6 = IPAddress.v6(IPv6Address(high: 0xFD00_0000_0000_0000, low: 1), scope: 0)

    private func round(known: [IPAddress] = [], isNew: Bool = true) -> AddressRound {
        AddressRound([.ipv4, .ipv6], known: known, isNew: isNew, at: start)
    }

    private func at(_ milliseconds: Int64) -> MonotonicTime { start + Duration.milliseconds(milliseconds) }

    /// What is in the cache is told, and then that this was all, within some milliseconds.
    private func cached(_ addresses: [IPAddress], _ round: AddressRound) -> AddressRound {
        var round = round
        for address in addresses { round.appeared(address, at: at(4)) }
        for family in IPAddress.Family.allCases { round.cacheExhausted(family, at: at(5)) }
        return round
    }

    @Test("with all in the cache it is over at once: nothing is asked")
    func cached() {
        for known in [[], [v4, v6]] {
            let round = cached([v6, v4], round(known: known))
            #expect(round.end == at(5))
            #expect(round.addresses == [v4, v6])
        }
    }

    @Test("once one family has answered the other has its grace")
    func grace() {
        #expect(cached([v4], round()).end == at(5) + AddressRound.grace)
        #expect(cached([v6], round()).end == at(5) + AddressRound.grace)
    }

    @Test("the lookup that has its answer is over before the other's grace is")
    func oneByOne() {
        var round = cached([v4], round())
        #expect(round.nextEnd == at(5))
        round.endLookups(at: at(5))
        #expect(!round.expects(.ipv4))
        #expect(round.expects(.ipv6))
        #expect(round.nextEnd == at(5) + AddressRound.grace)
        round.appeared(v6, at: at(30))
        #expect(round.nextEnd == at(30) + AddressRound.gathering)
        round.endLookups(at: at(50))
        #expect(round.nextEnd == nil)
        #expect(round.addresses == [v4, v6])
    }

    @Test("addresses of one packet are gathered; a family of which nothing more comes is not waited for")
    func gathering() {
        var round = cached([], round())
        #expect(round.end == start + AddressRound.limit)
        round.appeared(v4, at: at(60))
        #expect(round.end == at(60) + AddressRound.grace)
        round.ended(.ipv6)
        #expect(round.end == at(60) + AddressRound.gathering)
        round.ended(.ipv4)
        #expect(round.end <= start)
    }

    @Test("before the cache was told nothing is known")
    func early() {
        var round = round()
        round.appeared(v4, at: at(1))
        round.appeared(v6, at: at(1))
        round.cacheExhausted(.ipv4, at: at(2))
        #expect(round.end == start + AddressRound.limit)
        round.cacheExhausted(.ipv6, at: at(3))
        #expect(round.end == at(3))
    }

    @Test("a family that a known host never had is not waited for, one that it had is asked for")
    func known() {
        let without = cached([v4], round(known: [v4], isNew: false))
        #expect(without.end == at(5))
        let lost = cached([v4], round(known: [v4, v6], isNew: false))
        #expect(lost.end == at(5) + AddressRound.doubt)
        let new = cached([v4], round(known: [v4], isNew: true))
        #expect(new.end == at(5) + AddressRound.doubt)
    }

    @Test("no look takes as long as the shortest-lived record lives, whatever comes or does not")
    func bounded() {
        #expect(AddressRound.limit < .seconds(1))
        for known in [[], [v4], [v4, v6]] {
            var rounds = [round(known: known), cached([], round(known: known))]
            for milliseconds in [0, 450, 899] {
                var late = cached([], round(known: known))
                late.appeared(v4, at: at(Int64(milliseconds)))
                rounds.append(late)
            }
            for round in rounds { #expect(round.end <= start + AddressRound.limit) }
        }
    }

    @Test("32 addresses are kept")
    func addresses() {
        var round = round()
        for number in 0..<1_000 { round.appeared(.v4(IPv4Address(bits: UInt32(number))), at: at(3)) }
        #expect(round.addresses.count == AddressRound.maximumAddresses)
    }
}
