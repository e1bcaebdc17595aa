import DNSSD
import PeerSession
import Testing

/// What a caller's key says about its hello: who has another's id or name is not that other.
@Suite("Peer session: claims")
struct PeerTableClaimTests {
    private let own = PeerID(rawValue: 1)
    private let other = PeerID(rawValue: 2)
    private let service: ServiceInstance

    init() throws {
        service = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_tap-race._tcp"))
    }

    private var hello: Greeting { Greeting(id: other, name: "tony", to: own) }

    private func dialling() -> PeerTable {
        var table = PeerTable(own: own)
        _ = table.found(other, named: "tony", at: service)
        #expect(table.wanted(other).contains(.dial(other, service, attempt: 1)))
        return table
    }

    private func isInvitation(_ actions: [PeerTable.Action]) -> Bool {
        actions.contains { if case .tell(.invited) = $0 { true } else { false } }
    }

    @Test("a refuted hello is refused, in whatever state its peer is, and changes nothing")
    func refuted() {
        var table = PeerTable(own: own)
        #expect(table.greeted(1, by: hello, .refuted) == [.refuse(1, .declined)])
        #expect(table.peers.isEmpty)
        var dialling = dialling()
        #expect(dialling.greeted(1, by: hello, .refuted) == [.refuse(1, .declined)])
        #expect(dialling.dialled(other, attempt: 1, 2) == [.greet(2)])
        #expect(dialling.greeted(3, by: hello, .refuted) == [.refuse(3, .declined)])
        _ = dialling.welcomed(2, by: Greeting(id: other, name: "tony"))
        #expect(dialling.link(to: other) == 2)
        var invited = PeerTable(own: own)
        _ = invited.greeted(1, by: hello)
        #expect(invited.greeted(2, by: hello, .refuted) == [.refuse(2, .declined)])
        #expect(invited.accepted(other) == [.welcome(1)])
    }

    @Test("while a peer is dialled, only who has its key takes the place of that connection")
    func whileDialling() {
        var table = dialling()
        #expect(table.greeted(1, by: hello, .open) == [.refuse(1, .duplicate)])
        #expect(table.dialled(other, attempt: 1, 2) == [.greet(2)])
        var proven = dialling()
        #expect(proven.greeted(1, by: hello, .proven).contains(.welcome(1)))
    }

    @Test("one whose key is not known by a name invites; a person answers")
    func open() {
        var table = PeerTable(own: own)
        _ = table.found(other, named: "tony", at: service)
        #expect(isInvitation(table.greeted(1, by: hello, .open)))
        #expect(table.accepted(other).contains(.welcome(1)))
    }

    @Test("one that speaks TLS only says so to a plain session")
    func plain() {
        var table = dialling()
        _ = table.dialled(other, attempt: 1, 2)
        let actions = table.refused(2, .plain)
        #expect(
            actions.contains {
                if case .answer(_, let error?) = $0 { error.code == .notTrusted } else { false }
            })
        #expect(table.link(to: other) == nil)
    }
}
