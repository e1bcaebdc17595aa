import DNSSD
import PeerIdentity
import Testing

@Suite("A key's hint in a TXT record")
struct KeyHintTests {
    private func key(_ byte: UInt8) throws -> KeyFingerprint {
        try #require(KeyFingerprint([UInt8](repeating: byte, count: KeyFingerprint.length)))
    }

    @Test("it is read as it was written; what is no key is none")
    func roundTrip() throws {
        var record = TXTRecord()
        try KeyHint(try key(1)).add(to: &record)
        #expect(record.text(for: "tls") == "1")
        #expect(KeyHint(record)?.key == (try key(1)))
        #expect(KeyHint(TXTRecord()) == nil)
        #expect(KeyHint(try TXTRecord(["tls": "1", "fp": "SHA256:short"])) == nil)
    }

    @Test("a warning only where another key is known")
    func warning() throws {
        let tony = PeerName.service(
            ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")))
        var known = KnownPeers()
        let hint = KeyHint(try key(1))
        #expect(hint.warning(of: tony, known) == nil)
        known.add(KnownPeers.Peer(tony, try key(2)))
        #expect(hint.warning(of: tony, known)?.contains("\(try key(1))") == true)
        known.add(KnownPeers.Peer(tony, try key(1)))
        #expect(hint.warning(of: tony, known) == nil)
    }
}
