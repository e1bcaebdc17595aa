import DNSSD
import PeerSession
import Testing

/// Which connection counts, as a value.
@Suite("Peer session: table")
struct PeerTableTests {
    private let low = PeerID(rawValue: 1)
    private let high = PeerID(rawValue: 2)

    private let type: ServiceType

    init() throws { type = try ServiceType("_tap-race._tcp") }

    private func service(_ name: String = "tony") -> ServiceInstance {
        ServiceInstance(name: ServiceName(observed: name), type: type)
    }

    private func states(_ actions: [PeerTable.Action]) -> [PeerState] {
        actions.compactMap { if case .tell(.changed(let peer)) = $0 { peer.state } else { nil } }
    }

    /// A table that has said hello to `other` on connection 1.
    private func greeted(_ own: PeerID, _ other: PeerID) -> PeerTable {
        var table = PeerTable(own: own)
        _ = table.found(other, named: "tony", at: service())
        #expect(table.dialled(other, attempt: attempt(table.wanted(other)), 1) == [.greet(1)])
        return table
    }

    /// The number of the dial attempt that the actions start; 0 if none.
    private func attempt(_ actions: [PeerTable.Action]) -> Int {
        for case .dial(_, _, let attempt) in actions { return attempt }
        return 0
    }

    private func errors(_ actions: [PeerTable.Action]) -> [SessionError.Code] {
        actions.compactMap { if case .answer(_, let error?) = $0 { error.code } else { nil } }
    }

    @Test("found, invited, welcomed, ended: the states of a peer in order")
    func story() {
        var table = PeerTable(own: low)
        #expect(states(table.found(high, named: "tony", at: service())) == [.available])
        let wanted = table.wanted(high)
        #expect(states(wanted) == [.connecting])
        #expect(wanted.contains(.dial(high, service(), attempt: 1)))
        _ = table.dialled(high, attempt: 1, 1)
        let welcomed = table.welcomed(1, by: Greeting(id: high, name: "tony"))
        #expect(states(welcomed) == [.connected])
        #expect(welcomed.contains(.answer(high, nil)))
        #expect(table.connectedPeer(on: 1)?.id == high)
        #expect(states(table.ended(1, didVanish: false)) == [.disconnected, .available])
        #expect(states(table.lost(service())) == [.unavailable])
        #expect(table.peers.isEmpty)
    }

    @Test("both dial simultaneously: both keep the connection of the smaller id, in any order")
    func simultaneous() {
        // The connection that `low` dialled is 1 there and 2 at `high`; the one that `high` dialled is 2 at `low` and 1 there.
        var atLow = greeted(low, high)
        var atHigh = greeted(high, low)
        #expect(atLow.greeted(2, by: Greeting(id: high, name: "h")) == [.refuse(2, .duplicate)])
        let accepted = atHigh.greeted(2, by: Greeting(id: low, name: "l"))
        #expect(accepted.contains(.welcome(2)) && accepted.contains(.close(1)))
        #expect(atHigh.link(to: low) == nil)
        // The refusal of the closed connection arrives late and means nothing.
        #expect(atHigh.refused(1, .duplicate) == [.close(1)])
        #expect(atHigh.ended(1, didVanish: false).isEmpty)
        _ = atLow.welcomed(1, by: Greeting(id: high, name: "h"))
        #expect(atLow.link(to: high) == 1)
        #expect(states(atHigh.heard(2)) == [.connected])
        #expect(atHigh.heard(2).isEmpty)
        #expect(atLow.ended(2, didVanish: false).isEmpty)
        #expect(atLow.link(to: high) == 1 && atHigh.link(to: low) == 2)
    }

    @Test("the refusal may come before the other's hello: it is waited for, and accepted without asking")
    func refusedFirst() {
        var table = greeted(high, low)
        #expect(table.refused(1, .duplicate) == [.close(1), .expect(low, attempt: 2)])
        #expect(table.ended(1, didVanish: false).isEmpty)
        let actions = table.greeted(2, by: Greeting(id: low, name: "l"))
        #expect(actions == [.welcome(2)])
        #expect(table.heard(2).contains(.answer(low, nil)))
        #expect(table.expectedInVain(low, attempt: 2).isEmpty)
    }

    @Test("a hello that is expected and does not come: the peer is dialled again")
    func expectedInVain() {
        var table = greeted(high, low)
        _ = table.refused(1, .duplicate)
        #expect(table.expectedInVain(low, attempt: 1).isEmpty)
        let attempt = attempt(table.expectedInVain(low, attempt: 2))
        #expect(attempt == 3)
        #expect(table.dialled(low, attempt: attempt, 2) == [.greet(2)])
        _ = table.welcomed(2, by: Greeting(id: low, name: "l"))
        #expect(table.link(to: low) == 2)
    }

    @Test("a hello whose sender has moved to another connection meanwhile does not count as a connection")
    func lateHello() {
        var table = PeerTable(own: low)
        _ = table.found(high, named: "tony", at: service())
        let hello = Greeting(id: high, name: "tony")
        _ = table.greeted(1, by: hello)
        #expect(table.wanted(high) == [.welcome(1)])
        #expect(table.link(to: high) == nil)
        // Its end is noticed first: a wanted peer is dialled, but has not answered yet.
        let actions = table.ended(1, didVanish: false)
        #expect(attempt(actions) == 1)
        #expect(errors(actions).isEmpty)
        // Its next hello is read first.
        _ = table.greeted(2, by: hello)
        #expect(table.greeted(3, by: hello) == [.welcome(3), .close(2)])
        #expect(table.heard(2).isEmpty)
        #expect(table.heard(3).contains(.answer(high, nil)))
        #expect(table.ended(2, didVanish: false).isEmpty)
        #expect(table.link(to: high) == 3)
    }

    @Test("an invitation accepted after its sender has gone: no one is dialled, and no one is connected")
    func acceptedTooLate() {
        var table = PeerTable(own: low)
        _ = table.found(high, named: "tony", at: service())
        _ = table.greeted(1, by: Greeting(id: high, name: "tony"))
        #expect(table.accepted(high) == [.welcome(1)])
        #expect(states(table.ended(1, didVanish: false)) == [.available])
    }

    @Test("the failure of an attempt that was given up says nothing about the next one")
    func lateFailure() {
        var table = PeerTable(own: low)
        _ = table.found(high, named: "tony", at: service())
        let first = attempt(table.wanted(high))
        _ = table.unwanted(high)
        let second = attempt(table.wanted(high))
        #expect(table.failed(high, attempt: first, SessionError(.unreachable, "late")).isEmpty)
        #expect(table.dialled(high, attempt: first, 1) == [.close(1)])
        #expect(table.dialled(high, attempt: second, 2) == [.greet(2)])
    }

    @Test("a hello while we dial and have said nothing: that connection is taken, the dialled one closed when it comes")
    func helloWhileDialling() {
        var table = PeerTable(own: low)
        _ = table.found(high, named: "tony", at: service())
        let attempt = attempt(table.wanted(high))
        #expect(table.greeted(5, by: Greeting(id: high, name: "h")).contains(.welcome(5)))
        #expect(table.dialled(high, attempt: attempt, 6) == [.close(6)])
        _ = table.heard(5)
        #expect(table.link(to: high) == 5)
    }

    @Test(
        "an invitation is answered once; a second one replaces the first; after the end of its connection it is no more"
    )
    func invitations() {
        var table = PeerTable(own: low)
        let invited = table.greeted(1, by: Greeting(id: high, name: "h"))
        #expect(invited.contains { if case .tell(.invited(let peer)) = $0 { peer.id == high } else { false } })
        #expect(table.greeted(2, by: Greeting(id: high, name: "h")).contains(.refuse(1, .duplicate)))
        #expect(table.accepted(high).contains(.welcome(2)))
        #expect(table.accepted(high).isEmpty)
        #expect(table.declined(high).isEmpty)
        var other = PeerTable(own: low)
        _ = other.greeted(1, by: Greeting(id: high, name: "h"))
        #expect(states(other.ended(1, didVanish: false)) == [.unavailable])
        #expect(other.accepted(high).isEmpty)
        #expect(other.peers.isEmpty)
    }

    @Test("no one can take over a connection or a name, or answer for another")
    func hijack() {
        var table = greeted(low, high)
        _ = table.welcomed(1, by: Greeting(id: high, name: "tony"))
        #expect(table.greeted(2, by: Greeting(id: high, name: "evil")) == [.refuse(2, .duplicate)])
        #expect(table.link(to: high) == 1)
        #expect(table.found(high, named: "evil", at: service("evil")).isEmpty)
        #expect(table.peers.map(\.displayName) == ["tony"])
        #expect(table.greeted(3, by: Greeting(id: low, name: "us")) == [.refuse(3, .declined)])
        #expect(table.found(low, named: "us", at: service("us")).isEmpty)
        var asking = greeted(low, high)
        let actions = asking.welcomed(1, by: Greeting(id: PeerID(rawValue: 9), name: "evil"))
        #expect(actions.contains(.close(1)))
        #expect(asking.link(to: high) == nil)
    }

    @Test("a service that another session offers now: the former peer is gone, unless it is connected")
    func anew() {
        var table = PeerTable(own: low)
        _ = table.found(high, named: "tony", at: service())
        let next = PeerID(rawValue: 3)
        #expect(states(table.found(next, named: "tony", at: service())) == [.unavailable, .available])
        #expect(table.peers.map(\.id) == [next])
        // This session itself, restarted on this machine.
        #expect(states(table.found(low, named: "tony", at: service())) == [.unavailable])
        #expect(table.peers.isEmpty)
        var connected = greeted(low, high)
        _ = connected.welcomed(1, by: Greeting(id: high, name: "tony"))
        #expect(states(connected.found(next, named: "tony", at: service())) == [.available])
        #expect(connected.link(to: high) == 1)
        #expect(states(connected.ended(1, didVanish: true)) == [.disconnected, .unavailable])
    }

    @Test(
        "a hello meant for a former session is refused unseen; its sender forgets that session until another is found"
    )
    func former() {
        var table = PeerTable(own: low)
        let hello = Greeting(id: high, name: "tony", to: PeerID(rawValue: 3))
        #expect(table.greeted(1, by: hello) == [.refuse(1, .another)])
        #expect(table.peers.isEmpty)
        var caller = greeted(high, PeerID(rawValue: 3))
        let refused = caller.refused(1, .another)
        #expect(states(refused) == [.unavailable])
        #expect(refused.contains { if case .answer(_, let error) = $0 { error?.code == .unreachable } else { false } })
        #expect(caller.peers.isEmpty)
        #expect(states(caller.found(low, named: "tony", at: service())) == [.available])
        #expect(states(table.greeted(2, by: Greeting(id: high, name: "tony", to: low))) == [.connecting])
    }

    @Test("a peer that vanished is disconnected, and not available because its service has not expired yet")
    func vanished() {
        var table = greeted(low, high)
        _ = table.welcomed(1, by: Greeting(id: high, name: "tony"))
        #expect(states(table.ended(1, didVanish: true)) == [.disconnected])
        // Connecting again is allowed, because it may be back.
        let attempt = attempt(table.wanted(high))
        #expect(states(table.failed(high, attempt: attempt, SessionError(.unreachable, "no"))) == [.available])
    }

    @Test("a decline, an unknown peer, a connection that ends before the answer: the waiting side is notified")
    func failures() {
        var table = greeted(low, high)
        let declined = table.refused(1, .declined)
        #expect(declined.contains { if case .answer(high, let error?) = $0 { error.code == .declined } else { false } })
        #expect(states(declined) == [.available])
        #expect(table.wanted(PeerID(rawValue: 77)).contains { if case .answer(_, .some) = $0 { true } else { false } })
        var other = greeted(low, high)
        let ended = other.ended(1, didVanish: false)
        #expect(ended.contains { if case .answer(high, let error?) = $0 { error.code == .unreachable } else { false } })
    }
}
