import DNSSD
import LanChatCore
import Testing

@Suite("Places in a room")
struct PlacesTests {
    private func host(_ address: String) -> ChatHost { ChatHost(IPAddress(address)) }

    @Test("one host takes so many and no more; another has its own")
    func perHost() {
        var places = Places<Int>(limit: 10, perHost: 3)
        for id in 1...3 { #expect(places.enter(id, from: host("10.0.0.1")) == .enters) }
        #expect(places.enter(4, from: host("10.0.0.1")) == .hostHasEnough)
        #expect(places.enter(5, from: host("10.0.0.2")) == .enters)
        places.left(2)
        #expect(places.enter(6, from: host("10.0.0.1")) == .enters)
    }

    @Test("in a full room a newcomer gets the newest place of the host with the most, while that has two more")
    func full() {
        var places = Places<Int>(limit: 6, perHost: 4)
        for id in 1...4 { _ = places.enter(id, from: host("10.0.0.1")) }
        for id in 5...6 { _ = places.enter(id, from: host("10.0.0.2")) }
        #expect(places.enter(7, from: host("10.0.0.3")) == .entersInPlaceOf(4))
        // The newest of four was evicted and comes back: there is no place for it.
        #expect(places.enter(8, from: host("10.0.0.1")) == .full)
        // It reports leaving, but its place belongs to another already.
        places.left(4)
        #expect(places.enter(9, from: host("10.0.0.3")) == .entersInPlaceOf(3))
        // Two places each.
        for address in 1...3 { #expect(places.enter(20 + address, from: host("10.0.0.\(address)")) == .full) }
        places.left(9)
        #expect(places.enter(30, from: host("10.0.0.1")) == .enters)
    }

    @Test("one host that connects repeatedly from one address never gets more than its share, and others get in")
    func flood() {
        var places = Places<Int>(limit: 1024, perHost: 64)
        var held = 0
        for id in 1...5000 where places.enter(id, from: host("fe80::bad")) == .enters { held += 1 }
        #expect(held == 64)
        // One machine holds all places with sixteen addresses; twenty newcomers get one each.
        for address in 1...16 {
            for id in 1...64 { _ = places.enter(10_000 * address + id, from: host("10.9.0.\(address)")) }
        }
        for newcomer in 1...20 {
            guard case .entersInPlaceOf = places.enter(-newcomer, from: host("10.1.0.\(newcomer)")) else {
                Issue.record("newcomer \(newcomer) has no place")
                return
            }
        }
    }

    @Test("an address is its host: IPv4 also over IPv6, link-local IPv6 whole, other IPv6 by its /64")
    func hosts() {
        #expect(host("::ffff:10.0.0.1") == host("10.0.0.1"))
        #expect(host("10.0.0.1") != host("10.0.0.2"))
        #expect(host("2001:db8::1") == host("2001:db8::ffff:2"))
        #expect(host("2001:db8::1") != host("2001:db8:0:1::1"))
        #expect(host("fe80::1") != host("fe80::2"))
        #expect(host("nonsense") == ChatHost(nil))
    }
}
