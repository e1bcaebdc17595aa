import DNSSD
import Discovery
import Testing

@testable import DiscoveryControl

@Suite("another engine goes on in the daemon's place")
struct TakeoverTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")

    private func sight(_ name: String, over family: IPAddress.Family = .ipv6) throws -> Sighting {
        Sighting(
            instance: try ServiceInstance(fullName: "\(name)._xx._tcp.local"), origin: .link(eth0), family: family)
    }

    @Test(
        "what it has seen too stays, whatever the family; what it has not is out of sight once it has listed; and no end is told at once"
    )
    func services() throws {
        var takeover = Takeover<BrowseFact>()
        takeover.received([
            .backend(.up), .appeared(try sight("a")), .appeared(try sight("b")), .appeared(try sight("c")),
        ])
        takeover.received([.disappeared(try sight("c")), .listed, .backend(.down("gone"))])
        let first: [BrowseFact] = [.backend(.up), .appeared(try sight("a", over: .ipv4))]
        #expect(takeover.took(first) == first)
        #expect(takeover.took([.listed]) == [.hidden(try sight("b")), .listed])
        #expect(takeover.took([.listed]) == [.listed])
        #expect(takeover.took([.disappeared(try sight("a"))]) == [.hidden(try sight("a"))])
        #expect(takeover.took([.withdrawn(try sight("a"))]) == [.withdrawn(try sight("a"))])
    }

    @Test("types are as services")
    func types() throws {
        let key = TypeKey(type: try ServiceType("_xx._tcp"), domain: .local)
        var takeover = Takeover<TypeFact>()
        takeover.received([.appeared(key, .link(eth0))])
        #expect(takeover.took([.backend(.up), .listed]) == [.backend(.up), .hidden(key, .link(eth0)), .listed])
    }

    @Test("5 s without a word: once")
    func absence() {
        var absence = DaemonAbsence(patience: .seconds(5))
        #expect(!absence.missed(at: .seconds(1)) && !absence.missed(at: .milliseconds(5999)))
        absence.heard()
        #expect(!absence.missed(at: .seconds(7)) && !absence.missed(at: .milliseconds(11_999)))
        #expect(absence.missed(at: .seconds(12)) && absence.isOver && !absence.missed(at: .seconds(20)))
    }
}
