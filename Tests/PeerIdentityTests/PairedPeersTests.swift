import DNSSD
import PeerIdentity
import Testing

struct PairedPeersTests {
    private let key: KeyFingerprint
    private let other: KeyFingerprint
    private let tony: PeerName

    init() throws {
        key = try #require(KeyFingerprint(repeatElement(1, count: 32)))
        other = try #require(KeyFingerprint(repeatElement(2, count: 32)))
        tony = .service(ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")))
    }

    private func voucher(_ day: String?) throws -> Voucher {
        Voucher(host: .host(try HostName("h1.local")), day: day)
    }

    @Test("who was paired is let in as a caller, and answers for services that have no key, which is theirs then")
    func bothWays() throws {
        var known = KnownPeers()
        #expect(known.pair(key, labelled: "h1", on: "2026-11-23") == nil)
        #expect(String(decoding: known.content, as: UTF8.self) == "@h1 \(key)\nh1.local \(key) paired 2026-11-23\n")
        #expect(known.verdict(onCaller: key, claiming: "h1", .known) == .known)
        #expect(known.verdict(on: key, of: tony, .known) == .vouched(try voucher("2026-11-23")))
        #expect(known.verdict(on: other, of: tony, .known) == .unknown(names: []))
        known.add(.init(tony, other))
        #expect(known.verdict(on: key, of: tony, .known) == .changed(from: [other]))
        // Another host is not a service of it.
        let host = PeerName.host(try HostName("h2.local"))
        #expect(known.verdict(on: key, of: host, .known) == .unknown(names: PeerName.paired("h1")))
    }

    @Test("a caller alone answers for nothing")
    func callers() throws {
        var known = KnownPeers()
        known.add(.init(.label("h1"), key))
        #expect(known.verdict(on: key, of: tony, .known) == .unknown(names: [.label("h1")]))
    }

    @Test("a host that was not paired with answers for nothing: not one that was added, and none with a comment")
    func added() throws {
        let host = PeerName.host(try HostName("h1.local"))
        for comment in [
            "", " since spring", " # paired", " unpaired", " pairedwith", " paired yesterday",
            " paired 2026-11-2\u{661}",
            " paired with the blue router", " paired 2026-11-23 by me",
        ] {
            let known = KnownPeers(Array("h1.local \(key)\(comment)\n".utf8))
            #expect(known.verdict(on: key, of: tony, .known) == .unknown(names: [host]), "\(comment)")
        }
    }

    @Test(
        "the mark is read with a day and without one",
        arguments: [
            (" paired", nil), ("\tpaired  2026-11-23", "2026-11-23"), (" paired 2026-11-23\r", "2026-11-23"),
        ] as [(String, String?)])
    func mark(_ text: String, _ day: String?) throws {
        let known = KnownPeers(Array("h1.local \(key)\(text)\n".utf8))
        #expect(known.verdict(on: key, of: tony, .known) == .vouched(try voucher(day)))
    }

    @Test("a host that was added is marked when it is paired with; a label's own mark counts for nothing")
    func marked() throws {
        var known = KnownPeers(Array("h1.local \(key)\n@h1 \(key) paired\n".utf8))
        #expect(known.verdict(on: key, of: tony, .known) != .vouched(try voucher(nil)))
        #expect(known.pair(key, labelled: "h1", on: nil) == nil)
        #expect(String(decoding: known.content, as: UTF8.self) == "h1.local \(key) paired\n@h1 \(key) paired\n")
        #expect(known.verdict(on: key, of: tony, .known) == .vouched(try voucher(nil)))
    }

    @Test("a hashed host vouches as before, and its label does not")
    func hashed() throws {
        let hmac: HashedName.HMAC = { key, message in
            (0..<32).map { index in (key + message).reduce(index) { $0 &* 31 &+ $1 &+ index } }
        }
        var known = KnownPeers(hmac: hmac)
        #expect(known.pair(key, labelled: "h1", on: "2026-11-23") == nil)
        #expect(known.hashNames() == 2)
        #expect(
            KnownPeers(known.content, hmac: hmac).verdict(on: key, of: tony, .known)
                == .vouched(Voucher(day: "2026-11-23")))
        // Names that come later are hashed, too.
        #expect(known.pair(other, labelled: "h2", on: nil) == nil)
        #expect(
            KnownPeers(known.content, hmac: hmac).verdict(on: other, of: tony, .known) == .vouched(Voucher(day: nil)))
        #expect(known.forget(.host(try HostName("h1.local"))) == 1)
        #expect(known.verdict(on: key, of: tony, .known) == .unknown(names: []))
    }

    @Test("a key is forgotten with all its names, hashed or not")
    func forgotten() throws {
        var known = KnownPeers(
            Array(
                "# mine\n|1|\(Base64.encode([UInt8](repeating: 1, count: 32)))|\(Base64.encode([UInt8](repeating: 2, count: 32))) \(key)\n@h2 \(other)\n"
                    .utf8))
        known.add(.init(tony, key))
        #expect(known.forget(key) == 2)
        #expect(String(decoding: known.content, as: UTF8.self) == "# mine\n@h2 \(other)\n")
        #expect(known.forget(key) == 0)
    }

    @Test("the notice names the host and the day")
    func notice() throws {
        #expect(
            try voucher("2026-11-23").notice(of: tony)
                == "tony._witap._tcp.local is answered by h1.local, which was paired on 2026-11-23: the name is bound to its key now"
        )
        #expect(
            Voucher().notice(of: tony)
                == "tony._witap._tcp.local is answered by a machine that was paired: the name is bound to its key now")
        #expect(KnownPeers.today()?.utf8.count == 10)
    }

    @Test("a label in a message is one word of 64 characters at most")
    func shown() {
        let label = PeerName.label("h2\u{A0}(10.0.0.2):\u{2003}the\u{3164}code\u{2800}is\u{34F}\u{FE0F}")
        #expect(label.description.unicodeScalars.allSatisfy { $0.isASCII })
        #expect(PeerName(label.description) == label)
        #expect(
            PeerName.label(String(repeating: "a", count: 100)).text == "@" + String(repeating: "a", count: 63) + "…")
        #expect(PeerName.label(String(repeating: "a", count: 63)).text == "@" + String(repeating: "a", count: 63))
    }

    @Test("a service's name is one word where it must not be mistaken for another message")
    func word() throws {
        let name = try #require(PeerName("h1\\032\\032filedrop:\\032the\\032code._x-SNSUpload._tcp.local"))
        #expect(name.text.contains("  filedrop: the code"))
        #expect(name.word == name.description)
        #expect(!name.word.contains(" "))
        let label = PeerName.label(String(repeating: "a", count: 100))
        #expect(label.word == label.text)
    }

    @Test("a label, or its host, with another key: nothing is added")
    func conflict() throws {
        for name in PeerName.paired("h1") {
            var known = KnownPeers()
            known.add(.init(name, other))
            let before = known
            #expect(known.conflict(pairing: key, labelled: "H1") == .init(name, other))
            #expect(known.pair(key, labelled: "H1") == .init(name, other))
            #expect(known == before)
            #expect(known.conflict(pairing: other, labelled: "h1") == nil)
        }
    }

    @Test("pairing again adds nothing")
    func again() throws {
        var known = KnownPeers()
        #expect(known.pair(key, labelled: "anna@h1") == nil && known.pair(key, labelled: "anna@h1") == nil)
        #expect(known.peers.map(\.name.description) == ["@anna@h1", "anna@h1.local"])
    }

    @Test(
        "a label that is no host's name makes none: it never passes for a service or a caller",
        arguments: [
            "tony._witap._tcp", "@anna", "a\nb", "a\u{A0}b", "a\u{3164}b", "\u{1B}[2J", "a..b",
            String(repeating: "a", count: 64), "a\\",
        ])
    func hostile(_ label: String) throws {
        #expect(PeerName.host(labelled: label) == nil)
        var known = KnownPeers()
        #expect(known.pair(key, labelled: label) == nil)
        #expect(known.peers == [.init(.label(label), key)])
        #expect(KnownPeers(known.content) == known && known.unreadable.isEmpty)
        #expect(known.verdict(on: key, of: tony, .known) == .unknown(names: [.label(label)]))
    }

    @Test("labels with spaces and signs are host names of one word", arguments: ["Anna's Mac", "#1", "Büro"])
    func odd(_ label: String) throws {
        var known = KnownPeers()
        #expect(known.pair(key, labelled: label) == nil)
        #expect(known.peers.count == 2 && KnownPeers(known.content).peers == known.peers)
    }
}
