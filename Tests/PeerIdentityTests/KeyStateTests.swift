import DNSSD
import PeerIdentity
import Testing

struct KeyStateTests {
    private func tony(_ name: String = "tony") throws -> PeerName {
        .service(ServiceInstance(name: try ServiceName(name), type: try ServiceType("_witap._tcp")))
    }

    private func key(_ number: UInt8) throws -> KeyFingerprint {
        try #require(KeyFingerprint(repeatElement(number, count: 32)))
    }

    @Test("known, unknown, changed; nothing for a name that was not connected to")
    func states() throws {
        var (known, last) = (KnownPeers(), KnownPeers())
        #expect(known.state(of: try tony(), lastKeys: last) == nil)
        known.add(.init(try tony(), try key(1)))
        #expect(known.state(of: try tony(), lastKeys: last) == nil)
        last.replace(.init(try tony(), try key(1)), atMost: 10)
        #expect(known.state(of: try tony(), lastKeys: last) == .known)
        last.replace(.init(try tony(), try key(2)), atMost: 10)
        #expect(known.state(of: try tony(), lastKeys: last) == .changed)
        _ = known.forget(try tony())
        #expect(known.state(of: try tony(), lastKeys: last) == .unknown)
    }

    @Test("the oldest names go when there are too many")
    func bounded() throws {
        var last = KnownPeers(Array("# mine\n".utf8))
        for number in 0..<5 { last.replace(.init(try tony("\(number)"), try key(1)), atMost: 3) }
        #expect(last.peers.map(\.name) == [try tony("2"), try tony("3"), try tony("4")])
        // One that is seen again is the newest.
        last.replace(.init(try tony("2"), try key(2)), atMost: 3)
        last.replace(.init(try tony("5"), try key(2)), atMost: 3)
        #expect(last.peers.map(\.name) == [try tony("4"), try tony("2"), try tony("5")])
        #expect(last.content.starts(with: "# mine\n".utf8))
    }
}
