import DNSSD
import Testing

@testable import MulticastEngine

@Suite("Why links are not used")
struct LinkTroublesTests {
    private let d1 = LinkKey(
        interface: NetworkInterface(index: 2, name: "d1"), families: Set(IPAddress.Family.allCases))
    private let d2 = LinkKey(
        interface: NetworkInterface(index: 3, name: "d2"), families: Set(IPAddress.Family.allCases))

    @Test("what can be sent over one family does not hide that the other one has no socket")
    func causes() {
        var troubles = LinkTroubles()
        let refused = "d1 cannot be asked: port taken"
        #expect(troubles.note("port taken", .opening, of: d1) == .trouble(refused))
        #expect(troubles.note(nil, .sending, of: d1) == LinkTroubles.News.none)
        #expect(troubles.texts == [refused])
        // The next try finds the same, which is no news.
        #expect(troubles.note("port taken", .opening, of: d1) == LinkTroubles.News.none)
        #expect(troubles.note("no buffer", .sending, of: d1) == .trouble("d1 cannot be asked: no buffer"))
        #expect(troubles.texts.count == 2)
        #expect(troubles.note(nil, .opening, of: d1) == .over)
        #expect(troubles.texts == ["d1 cannot be asked: no buffer"])
        #expect(troubles.note(nil, .sending, of: d1) == .over)
        #expect(troubles.texts.isEmpty)
    }

    @Test("whoever wants only one link hears of that one, and a link that is gone has no trouble")
    func links() throws {
        var troubles = LinkTroubles()
        for link in [d1, d2] { _ = troubles.note("port taken", .opening, of: link) }
        let wish = LinkWish(
            interfaces: try InterfaceFilter(["d2"]), families: Set(IPAddress.Family.allCases))
        let usable = [d1, d2].map { (interface: $0.interface, families: IPAddress.Family.allCases) }
        let selection = LinkSelection(usable, [wish])
        #expect(troubles.texts(where: { selection.wants(wish, $0) }) == ["d2 cannot be asked: port taken"])
        troubles.keep([d1.interface])
        #expect(troubles.texts == ["d1 cannot be asked: port taken"])
    }
}
