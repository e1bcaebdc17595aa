import DNSSD
import Discovery
import Testing

@testable import HostEngine

@Suite("A publication that goes from one publisher to the other")
struct PublicationRelayTests {
    private let tony = ServiceName(observed: "tony")

    private func fact(_ state: PublicationFact.State, _ name: String = "tony") -> PublicationFact {
        PublicationFact(name: ServiceName(observed: name), state: state)
    }

    /// Established on the wire.
    private func onWire() -> PublicationRelay {
        var relay = PublicationRelay(name: tony)
        #expect(relay.choose(.wire, isSameHost: true) == [.begin(.wire, as: tony, isProven: false)])
        #expect(relay.heard(fact(.registering), from: .wire) == [.report(fact(.registering))])
        #expect(relay.heard(fact(.established), from: .wire) == [.report(fact(.established))])
        return relay
    }

    @Test("avahi-daemon comes: it has the service before the wire ends, without a word; nothing is reported")
    func toAvahi() {
        var relay = onWire()
        #expect(relay.choose(.avahi, isSameHost: true) == [.begin(.avahi, as: tony, isProven: false)])
        #expect(relay.heard(fact(.registering), from: .avahi) == [])
        #expect(relay.heard(fact(.established), from: .avahi) == [.end(.wire, isSaid: false)])
        #expect(relay.active == .avahi)
        // What the ended one still says counts no more.
        #expect(relay.heard(fact(.waiting("late")), from: .wire) == [])
    }

    @Test("avahi-daemon goes: the wire announces at once, and nothing is reported")
    func toWire() {
        var relay = onWire()
        _ = relay.choose(.avahi, isSameHost: true)
        _ = relay.heard(fact(.established), from: .avahi)
        #expect(
            relay.choose(.wire, isSameHost: true) == [
                .end(.avahi, isSaid: false), .begin(.wire, as: tony, isProven: true),
            ])
        #expect(relay.heard(fact(.waiting("gone")), from: .avahi) == [])
        #expect(relay.heard(fact(.registering), from: .wire) == [])
        #expect(relay.heard(fact(.established), from: .wire) == [])
    }

    @Test("it goes again before it has the service: that stays where it is")
    func tooShort() {
        var relay = onWire()
        _ = relay.choose(.avahi, isSameHost: true)
        #expect(relay.choose(.wire, isSameHost: true) == [.end(.avahi, isSaid: true)])
        #expect(relay.active == .wire && relay.next == nil)
    }

    @Test("it would take another name, or refuses: the service stays where it is, and is offered again later")
    func refused() {
        let denied = DiscoveryError(.notPermitted, "no")
        for news in [fact(.registering, "tony #2"), fact(.failed(denied)), fact(.refused(denied))] {
            var relay = onWire()
            _ = relay.choose(.avahi, isSameHost: true)
            #expect(
                relay.heard(news, from: .avahi) == [
                    .end(.avahi, isSaid: true), .retry(after: PublicationRelay.pause),
                ])
            #expect(relay.retryIsDue() == [.begin(.avahi, as: tony, isProven: false)])
        }
    }

    @Test("a host of another name has other records: one ends before the other begins")
    func otherHost() {
        var relay = onWire()
        #expect(
            relay.choose(.avahi, isSameHost: false) == [
                .end(.wire, isSaid: false), .begin(.avahi, as: tony, isProven: false),
            ])
        _ = relay.heard(fact(.established), from: .avahi)
        #expect(
            relay.choose(.wire, isSameHost: false) == [
                .end(.avahi, isSaid: false), .begin(.wire, as: tony, isProven: false),
            ])
    }

    @Test("the name that was won goes along, also one that is won later")
    func renamed() {
        let second = ServiceName(observed: "tony #2")
        var relay = PublicationRelay(name: tony)
        _ = relay.choose(.wire, isSameHost: true)
        _ = relay.heard(fact(.registering, "tony #2"), from: .wire)
        // It is being registered: what comes of that is awaited.
        #expect(relay.choose(.avahi, isSameHost: true) == [])
        #expect(
            relay.heard(fact(.established, "tony #2"), from: .wire) == [
                .report(fact(.established, "tony #2")), .begin(.avahi, as: second, isProven: false),
            ])
        // While avahi-daemon registers it the name is lost.
        #expect(
            relay.heard(fact(.registering, "tony #3"), from: .wire) == [
                .end(.avahi, isSaid: true), .report(fact(.registering, "tony #3")),
            ])
    }

    @Test("nothing publishes yet: that is told, and not once something does; its end is the end")
    func nobody() {
        var relay = PublicationRelay(name: tony)
        #expect(relay.nobodyPublishes("why") == [.report(fact(.waiting("why")))])
        #expect(relay.nobodyPublishes("why") == [])
        #expect(relay.choose(.avahi, isSameHost: true) == [.begin(.avahi, as: tony, isProven: false)])
        #expect(relay.nobodyPublishes("gone") == [])
        let taken = DiscoveryError(.nameTaken, "taken")
        #expect(relay.heard(fact(.conflicted(taken)), from: .avahi) == [.report(fact(.conflicted(taken)))])
        #expect(relay.choose(.wire, isSameHost: true) == [])
    }

    @Test("what waits on the wire goes over at once")
    func waiting() {
        var relay = PublicationRelay(name: tony)
        _ = relay.choose(.wire, isSameHost: true)
        _ = relay.heard(fact(.waiting("no interface is up")), from: .wire)
        #expect(
            relay.choose(.avahi, isSameHost: true) == [
                .end(.wire, isSaid: false), .begin(.avahi, as: tony, isProven: false),
            ])
    }
}
