import FileDropCore
import PeerIdentity
import Testing

@Suite("Who a caller is")
struct CallersTests {
    private let keys: [KeyFingerprint]
    private var key: KeyFingerprint { keys[0] }
    private var other: KeyFingerprint { keys[1] }

    init() throws {
        keys = try [1, 2].map { try #require(KeyFingerprint(repeatElement(UInt8($0), count: 32))) }
    }

    /// Stands for SHA-256.
    private static let hmac: HashedName.HMAC = { salt, message in
        var digest = salt
        for (index, byte) in message.enumerated() { digest[index % digest.count] &+= byte &* UInt8(index % 251 + 1) }
        return digest
    }

    private func file(_ peers: (String, KeyFingerprint)..., hashed: Bool = false) -> KnownPeers {
        var known = KnownPeers(hmac: Self.hmac)
        for (label, key) in peers { known.add(KnownPeers.Peer(.label(label), key)) }
        if hashed { _ = known.hashNames() }
        return known
    }

    @Test("a label that either file has with another key is refused")
    func conflict() {
        for (known, senders) in [
            (file(("h2", key)), file(("boss", other))), (file(("boss", other)), file(("h2", key))),
        ] {
            let callers = Callers([known, senders])
            #expect(callers.conflict(key, claiming: "boss") == [other])
            #expect(callers.conflict(key, claiming: "BOSS") == [other])
            #expect(!callers.isKnown(key, claiming: "boss"))
            #expect(callers.conflict(key, claiming: "h2") == nil)
            #expect(callers.isKnown(key, claiming: "h2"))
            #expect(callers.isKnown(key, claiming: "new"))
        }
        #expect(Callers([file(), file(("boss", other), hashed: true)]).conflict(key, claiming: "boss") == [other])
    }

    @Test("its name is a label that is noted, never a mere claim")
    func label() {
        #expect(Callers([file(("h2", key)), file()]).label(of: key, claiming: "boss") == "h2")
        #expect(Callers([file(("h2", key)), file(("anna", key))]).label(of: key, claiming: "anna") == "anna")
        #expect(Callers([file(("boss", other)), file()]).label(of: key, claiming: "boss") == nil)
        let hashed = Callers([file(("h2", key), hashed: true), file()])
        #expect(hashed.label(of: key, claiming: "h2") == "h2")
        #expect(hashed.label(of: key, claiming: "boss") == nil)
    }
}
