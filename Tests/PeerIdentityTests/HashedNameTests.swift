import DNSSD
import PeerIdentity
import Testing

struct HashedNameTests {
    private let key = KeyFingerprint(repeatElement(1, count: 32))
    private let other = KeyFingerprint(repeatElement(7, count: 32))

    /// No HMAC, but something that every byte changes.
    private let hmac: HashedName.HMAC = { key, message in
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        return (0..<32).map { round in
            for byte in key + message { state = (state ^ UInt64(byte) ^ UInt64(round)) &* 0x100_0000_01B3 }
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    private func tony(_ name: String = "tony") throws -> PeerName {
        .service(ServiceInstance(name: try ServiceName(name), type: try ServiceType("_witap._tcp")))
    }

    @Test("a hash is read as it is written, and belongs to its name alone, whatever its case")
    func forms() throws {
        let hash = HashedName(try tony(), by: hmac)
        #expect(HashedName(hash.description) == hash)
        #expect(hash.description.hasPrefix("|1|") && !hash.isLabel)
        #expect(hash.matches(try tony("TONY"), by: hmac))
        #expect(!hash.matches(try tony("tim"), by: hmac))
        #expect(HashedName(try tony(), by: hmac) != hash, "each has a salt of its own")
        let anna = HashedName(.label("anna"), by: hmac)
        #expect(anna.description.hasPrefix("@|1|") && anna.isLabel && HashedName(anna.description) == anna)
        for text in ["", "|1|", "|1|AA==|AA==", "|2" + hash.description.dropFirst(2), hash.description + "|"] {
            #expect(HashedName(text) == nil, "\(text)")
        }
    }

    @Test("hashed, only a host that was paired with answers for services: no comment of another line does")
    func comments() throws {
        let key = try #require(key)
        let other = try tony("other")
        for (line, isVouching) in [("h1.local \(key) paired", true), ("tony._witap._tcp.local \(key) paired", false)] {
            var known = KnownPeers(Array((line + "\n").utf8), hmac: hmac)
            _ = known.hashNames()
            let verdict = KnownPeers(known.content, hmac: hmac).verdict(on: key, of: other, .known)
            #expect((verdict == .vouched(Voucher())) == isVouching, "\(line): \(verdict)")
        }
    }

    @Test("a file that is hashed has no name, finds each, and stays hashed")
    func file() throws {
        // A hash has no hyphen, and might have a short name's letters by chance.
        let (key, other) = (try #require(key), try #require(other))
        var known = KnownPeers(
            Array("# mine\nto-ny._witap._tcp.local \(key) h-i-s\n@an-na \(key)\n? ?\n".utf8), hmac: hmac)
        let count = known.hashNames()
        #expect(count == 2 && known.isHashed && known.count == 2)
        let text = String(decoding: known.content, as: UTF8.self)
        #expect(!text.contains("to-ny") && !text.contains("an-na") && !text.contains("h-i-s"))
        #expect(text.hasPrefix("# mine\n") && text.hasSuffix("\n? ?\n"))
        #expect(known.verdict(on: key, of: try tony("to-ny"), .known) == .known)
        #expect(known.verdict(on: other, of: try tony("to-ny"), .first) == .changed(from: [key]))
        #expect(known.verdict(onCaller: key, claiming: "an-na", .known) == .known)
        known.add(.init(try tony("t-im"), other))
        #expect(!String(decoding: known.content, as: UTF8.self).contains("t-im"))
        #expect(known.keys(of: try tony("t-im")) == [other])
        // Who was dialled once is not let in for that.
        #expect(known.verdict(onCaller: other, claiming: "t-im", .known) == .unknown(names: []))
        let forgotten = known.forget(try tony("to-ny"))
        #expect(forgotten == 1 && known.count == 2)
        #expect(known.keys(of: try tony("to-ny")).isEmpty)
        let again = known.hashNames()
        #expect(again == 0)
    }

    @Test("without HMAC hashed names belong to no one, and a file that has them is not changed")
    func without() throws {
        let key = try #require(key)
        var known = KnownPeers(Array("tony._witap._tcp.local \(key)\n".utf8), hmac: hmac)
        _ = known.hashNames()
        let blind = KnownPeers(known.content)
        #expect(blind == known && blind.isHashed && blind.peers.isEmpty)
        #expect(blind.entries.map(\.key) == [key])
        #expect(blind.keys(of: try tony()).isEmpty)
    }

    @Test("a label that looks like a hash stays a label")
    func forged() throws {
        let key = try #require(key)
        let hash = HashedName(.label("anna"), by: hmac)
        let label = PeerName.label(String(hash.description.dropFirst()))
        var known = KnownPeers(hmac: hmac)
        known.add(.init(label, key))
        let read = KnownPeers(known.content, hmac: hmac)
        #expect(read.peers.map(\.name) == [label])
        #expect(read.keys(of: .label("anna")).isEmpty)
    }
}
