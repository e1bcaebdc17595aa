import DNSSD
import PeerIdentity
import Testing

struct KnownPeersTests {
    private let key = KeyFingerprint("SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
    private let other = KeyFingerprint(repeatElement(7, count: 32))

    private func tony(_ name: String = "tony") throws -> PeerName {
        .service(ServiceInstance(name: try ServiceName(name), type: try ServiceType("_witap._tcp")))
    }

    @Test("a fingerprint is read as it is written, with padding and without")
    func fingerprint() throws {
        let key = try #require(key)
        #expect(key.bytes == Array(0..<32))
        #expect(key.description == "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        #expect(KeyFingerprint(key.description + "=") == key)
        let wrong = [
            "", "SHA256:", "sha256:AAEC", "SHA256:AAEC", "SHA1:" + key.description.dropFirst(7), key.description + "==",
            key.description + "A", "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9", " " + key.description,
        ]
        for text in wrong { #expect(KeyFingerprint(text) == nil, "\(text)") }
    }

    @Test(
        "names are one word, and read again",
        arguments: [
            "tony", "My Printer", "a.b", "back\\slash", "Büro 2", "\u{202E}evil", "@anna", "#1", "_x._tcp",
            "a \u{301}b", "#\u{301}",
        ])
    func names(_ text: String) throws {
        let names = [try tony(text), .label(text)]
        for name in names {
            #expect(!name.description.contains { $0.isWhitespace || $0.isNewline }, "\(name)")
            #expect(!name.description.needsTerminalEscaping, "\(name)")
            #expect(PeerName(name.description) == name, "\(name)")
            var known = KnownPeers()
            known.add(.init(name, try #require(key)))
            #expect(KnownPeers(known.content).peers == known.peers, "\(name)")
        }
    }

    @Test("a host, and what is no name")
    func hosts() throws {
        #expect(PeerName("h1.local") == .host(try HostName("H1.local")))
        for text in ["", "@", "@\\", "@\\999", "@\\25", "a..b", "@\\255"] { #expect(PeerName(text) == nil, "\(text)") }
    }

    @Test("what is read is written to the byte, with comments and nonsense")
    func unchanged() throws {
        let key = try #require(key)
        let text =
            "# mine\n\ntony._witap._tcp.local \(key) since spring\n  h1.local\t\(key)\nnonsense\n\u{7F} x\nx SHA256:AA\r\n"
        let content = Array(text.utf8) + [0xFF, 0x0A]
        let known = KnownPeers(content)
        #expect(known.content == content)
        #expect(known.peers == [.init(try tony(), key), .init(.host(try HostName("h1.local")), key)])
        #expect(known.unreadable == [5, 6, 7, 8])
        #expect(KnownPeers([0xEF, 0xBB, 0xBF] + Array("h1.local \(key)\n".utf8)).unreadable == [1])
    }

    @Test("a last line without an end is read, and what is added begins a line of its own")
    func lastLine() throws {
        let (key, other) = (try #require(key), try #require(other))
        var known = KnownPeers(Array("tony._witap._tcp.local \(key)".utf8))
        known.add(.init(.label("anna"), other))
        #expect(known.content == Array("tony._witap._tcp.local \(key)\n@anna \(other)\n".utf8))
    }

    @Test("forgetting takes all lines of a name, whatever its case, and no other line")
    func forgetting() throws {
        let (key, other) = (try #require(key), try #require(other))
        var known = KnownPeers(Array("TONY._witap._tcp.local \(key)\n? ?\ntony._witap._tcp.local \(other)\n".utf8))
        #expect(known.keys(of: try tony()) == [key, other])
        let count = known.forget(try tony())
        #expect(count == 2 && known.content == Array("? ?\n".utf8))
        let none = known.forget(try tony())
        #expect(none == 0)
    }

    @Test("nothing is added twice")
    func twice() throws {
        let peer = KnownPeers.Peer(try tony(), try #require(key))
        var known = KnownPeers()
        known.add(peer)
        known.add(peer)
        #expect(known.peers == [peer])
    }

    @Test("who is dialled: known, unknown, changed, learned, pinned")
    func dialled() throws {
        let (key, other, tony) = (try #require(key), try #require(other), try tony())
        var known = KnownPeers()
        #expect(known.verdict(on: key, of: tony, .known) == .unknown(names: []))
        #expect(known.verdict(on: key, of: tony, .first) == .learned)
        known.add(.init(tony, key))
        #expect(known.verdict(on: key, of: tony, .known) == .known)
        for trust in [PeerTrust.known, .first] {
            #expect(known.verdict(on: other, of: tony, trust) == .changed(from: [key]))
        }
        #expect(known.verdict(on: key, of: try self.tony("tim"), .known) == .unknown(names: [tony]))
        #expect(known.verdict(on: other, of: tony, .pinned([other])) == .known)
        #expect(known.verdict(on: key, of: tony, .pinned([other])) == .foreign)
    }

    @Test("who dials in: the key decides; a label that is bound takes no other key")
    func callers() throws {
        let (key, other) = (try #require(key), try #require(other))
        var known = KnownPeers()
        #expect(known.verdict(onCaller: key, claiming: "anna", .known) == .unknown(names: []))
        #expect(known.verdict(onCaller: key, claiming: "anna", .first) == .learned)
        known.add(.init(.label("anna"), key))
        #expect(known.verdict(onCaller: key, claiming: "anna", .known) == .known)
        #expect(known.verdict(onCaller: key, claiming: "someone else", .known) == .known)
        for trust in [PeerTrust.known, .first] {
            #expect(known.verdict(onCaller: other, claiming: "anna", trust) == .changed(from: [key]))
        }
        known.add(.init(try tony(), other))
        #expect(known.verdict(onCaller: other, claiming: "x", .known) == .unknown(names: [try tony()]))
        #expect(known.verdict(onCaller: other, claiming: "anna", .known) == .changed(from: [key]))
    }

    @Test("a name without a label is never written, and a quote ends no word of a shell")
    func awkward() throws {
        var known = KnownPeers()
        known.add(.init(.label(""), try #require(key)))
        #expect(known == KnownPeers())
        #expect(PeerName.label("it's").quotedForShell == #"'@it'\''s'"#)
        // To Swift a quote with a combining mark is another character; to a shell it is a quote.
        #expect(PeerName.label("x'\u{308};id").quotedForShell == "'@x'\\''\u{308};id'")
    }
}
