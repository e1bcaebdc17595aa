import DNSSD
import System
import Testing

@testable import AvahiEngine

@Suite("a look at a host's addresses")
struct AddressRoundTests {
    private let start = MonotonicTime(microseconds: 1_000_000_000)
    private let v4 = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))
    private let v6 = IPAddress.v6(IPv6Address(high: 0xFD00_0000_0000_0000, low: 1), scope: 0)

    private func round(known: [IPAddress] = [], isNew: Bool = true) -> AddressRound {
        AddressRound([.a, .aaaa], known: known, isNew: isNew, at: start)
    }

    private func at(_ milliseconds: Int64) -> MonotonicTime { start + Duration.milliseconds(milliseconds) }

    /// What is in the cache is told, and then that this was all, within some milliseconds.
    private func cached(_ addresses: [IPAddress], _ round: AddressRound) -> AddressRound {
        var round = round
        for address in addresses {
            round.appeared(address, address.family == .ipv4 ? .a : .aaaa, over: .ipv4, at: at(4))
        }
        for kind in [RecordBrowser.Kind.a, .aaaa] { round.cacheExhausted(kind, at: at(5)) }
        return round
    }

    @Test("with all in the cache it is over at once: nothing is asked")
    func cached() {
        for known in [[], [v4, v6]] {
            let round = cached([v4, v6], round(known: known))
            #expect(round.end(of: .a) == at(5) && round.end(of: .aaaa) == at(5))
            #expect(round.addresses == [v4, v6])
        }
    }

    @Test("an answered kind is let go at once, while the other one has its grace")
    func grace() {
        let round = cached([v4], round())
        #expect(round.end(of: .a) == at(5))
        #expect(round.end(of: .aaaa) == at(5) + AddressRound.grace)
    }

    @Test("addresses of one packet are gathered")
    func gathering() {
        var round = cached([], round())
        round.appeared(v4, .a, over: .ipv4, at: at(60))
        #expect(round.end(of: .a) == at(60) + AddressRound.gathering)
        #expect(round.end(of: .aaaa) == at(60) + AddressRound.grace)
        round.ended(.aaaa)
        #expect(round.end(of: .aaaa) <= start)
    }

    @Test("a kind that a known host never had is not waited for, one that it had is asked for")
    func known() {
        let without = cached([v4], round(known: [v4], isNew: false))
        #expect(without.end(of: .aaaa) == at(5))
        let lost = cached([v4], round(known: [v4, v6], isNew: false))
        #expect(lost.end(of: .aaaa) == at(5) + AddressRound.doubt)
        let new = cached([v4], round(known: [v4], isNew: true))
        #expect(new.end(of: .aaaa) == at(5) + AddressRound.doubt)
    }

    @Test("no look takes as long as the shortest-lived record lives, whatever comes or does not")
    func bounded() {
        #expect(AddressRound.limit < .seconds(1))
        for known in [[], [v4], [v4, v6]] {
            var rounds = [round(known: known), cached([], round(known: known))]
            for milliseconds in [0, 450, 899] {
                var late = cached([], round(known: known))
                late.appeared(v4, .a, over: .ipv6, at: at(Int64(milliseconds)))
                rounds.append(late)
            }
            for round in rounds {
                for kind in [RecordBrowser.Kind.a, .aaaa] { #expect(round.end(of: kind) <= start + AddressRound.limit) }
            }
        }
    }

    @Test("an address is there as long as a packet of one family carries it; 32 are kept")
    func addresses() {
        var round = round()
        round.appeared(v4, .a, over: .ipv4, at: at(1))
        round.appeared(v4, .a, over: .ipv6, at: at(2))
        round.disappeared(v4, over: .ipv4)
        #expect(round.addresses == [v4])
        round.disappeared(v4, over: .ipv6)
        #expect(round.isEmpty)
        for number in 0..<1_000 {
            round.appeared(.v4(IPv4Address(bits: UInt32(number))), .a, over: .ipv4, at: at(3))
        }
        #expect(round.addresses.count == AddressRound.maximumAddresses)
    }
}
