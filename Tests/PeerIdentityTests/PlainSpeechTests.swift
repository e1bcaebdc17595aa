import DNSSD
import Testing

@testable import PeerIdentity

struct PlainSpeechTests {
    private static let key = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
    private let tony: ServiceInstance
    private var tls = TXTRecord()

    init() throws {
        tony = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        try KeyHint(try #require(KeyFingerprint(Self.key))).add(to: &tls)
    }

    private func known(_ line: String, _ hmac: HashedName.HMAC? = nil) -> KnownPeers {
        KnownPeers(Array("\(line)\n".utf8), hmac: hmac)
    }

    @Test("a known key and tls=1: refused; without tls=1, a line; another's key is nothing")
    func known() {
        let tony = known("TONY._witap._tcp.local \(Self.key)")
        guard case .refused = tony.plainSpeech(to: self.tony, announcing: tls) else {
            Issue.record("not refused")
            return
        }
        for record in [TXTRecord(), nil] {
            guard case .doubtful = tony.plainSpeech(to: self.tony, announcing: record) else {
                Issue.record("not told")
                return
            }
        }
        let other = known("bank._bank._tcp.local \(Self.key)")
        for record in [tls, TXTRecord(), nil] {
            #expect(other.plainSpeech(to: self.tony, announcing: record) == .usual)
            #expect(KnownPeers().plainSpeech(to: self.tony, announcing: record) == .usual)
        }
    }

    @Test("a hashed name is found where hashes can be made; where not, whatever announces TLS may be known")
    func hashed() throws {
        let hmac: HashedName.HMAC = { salt, message in
            (0..<32).map { UInt8(truncatingIfNeeded: Int(salt[$0]) ^ message.count) }
        }
        var peers = known("tony._witap._tcp.local \(Self.key)", hmac)
        #expect(peers.hashNames() == 1)
        guard case .refused = peers.plainSpeech(to: tony, announcing: tls),
            case .refused = KnownPeers(peers.content).plainSpeech(to: tony, announcing: tls)
        else {
            Issue.record("not refused")
            return
        }
        #expect(KnownPeers(peers.content).plainSpeech(to: tony, announcing: TXTRecord()) == .usual)
    }

    @Test("a service that announces TLS with the key of a paired machine gets a line")
    func paired() {
        let peers = known("h1.local \(Self.key) paired 2026-11-23")
        guard case .doubtful(let text) = peers.plainSpeech(to: tony, announcing: tls) else {
            Issue.record("not told")
            return
        }
        #expect(text.contains("h1.local, which was paired"))
        #expect(peers.plainSpeech(to: tony, announcing: nil) == .usual)
    }
}
