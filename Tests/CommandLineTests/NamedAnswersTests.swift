import DNSSD
import Discovery
import HostEngine
import Testing

@Suite("A name on the wire, and in avahi-daemon's cache")
struct NamedAnswersTests {
    private let eth0 = Origin.link(NetworkInterface(index: 2, name: "eth0"))
    private let eth1 = Origin.link(NetworkInterface(index: 3, name: "eth1"))
    private let tony: ServiceInstance

    init() throws { tony = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")) }

    private func sighting(_ origin: Origin) -> Sighting { Sighting(instance: tony, origin: origin, family: nil) }

    private func resolution(_ origin: Origin, _ addresses: [String]) throws -> Resolution {
        let target = Resolution.Target(
            host: try HostName("mac.local"), port: try Port(9000), addresses: addresses.compactMap { IPAddress($0) })
        return Resolution(instance: tony, origin: origin, target: target, txt: TXTRecord())
    }

    private func cached(_ origin: Origin) throws -> [Sighting: Resolution] {
        [sighting(origin): try resolution(origin, ["10.0.0.1"])]
    }

    /// What the wire says when it answers: all addresses, and the end of the list.
    private func whole() throws -> [BrowseFact] {
        [.appeared(sighting(eth0)), .resolved(try resolution(eth0, ["10.0.0.1", "10.0.0.2", "10.0.0.3"])), .listed]
    }

    @Test("who dials begins with the one address that avahi-daemon names, and the list goes on until the wire ends it")
    func dialling() throws {
        var answers = NamedAnswers(.watch)
        let first = answers.secondSaid(try cached(eth0))
        #expect(try first == [.appeared(sighting(eth0)), .resolved(resolution(eth0, ["10.0.0.1"]))])
        #expect(answers.wireWasSilent().isEmpty)
        #expect(try answers.wireSaid(whole()) == whole())
        #expect(try answers.isWireHeard && answers.secondSaid(cached(eth1)).isEmpty)
    }

    @Test("where the wire never answers, it says itself when that is all")
    func neverHeard() throws {
        var answers = NamedAnswers(.watch)
        #expect(try !answers.secondSaid(cached(eth0)).contains(.listed))
        #expect(answers.wireSaid([.listed]) == [.listed])
    }

    @Test("who wants every address once waits as long as a responder may be silent, and is told the wire's")
    func once() throws {
        var answers = NamedAnswers(.once)
        #expect(try answers.secondSaid(cached(eth0)).isEmpty)
        #expect(try answers.wireSaid(whole()) == whole())
        #expect(answers.wireWasSilent().isEmpty)
    }

    @Test("then avahi-daemon's answer is better than none")
    func onceWithoutWire() throws {
        var answers = NamedAnswers(.once)
        #expect(try answers.secondSaid(cached(eth0)).isEmpty)
        #expect(
            try answers.wireWasSilent() == [
                .appeared(sighting(eth0)), .resolved(resolution(eth0, ["10.0.0.1"])), .listed,
            ])
        // The wire may still answer; the list has ended.
        #expect(try answers.wireSaid(whole()) == Array(whole().dropLast()))
        // What came only after that is told at once.
        var late = NamedAnswers(.once)
        #expect(late.wireWasSilent().isEmpty)
        #expect(try late.secondSaid(cached(eth0)).last == .listed)
    }

    @Test("the name alone is whole; what avahi-daemon or the wire has no more is taken back")
    func names() throws {
        var answers = NamedAnswers(.none)
        #expect(try answers.secondSaid(cached(eth0)) == [.appeared(sighting(eth0)), .listed])
        #expect(
            try answers.secondSaid(cached(eth1)) == [.disappeared(sighting(eth0)), .appeared(sighting(eth1))])
        #expect(
            answers.wireSaid([.appeared(sighting(eth0))])
                == [.appeared(sighting(eth0)), .disappeared(sighting(eth1))])
    }
}
