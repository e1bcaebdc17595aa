import Foundation
import PeerIdentity
import Testing

@Suite("words of an option that say whom to trust") struct TrustWordTests {
    private static let key = "SHA256:" + String(repeating: "A", count: 43)

    @Test(
        "what goes together, and what it says",
        arguments: [
            ([], nil), (["first"], .first), (["first", "first"], .first),
            ([key, key], KeyFingerprint(key).map { .pinned([$0]) }),
        ] as [([String], PeerTrust?)])
    func trust(_ texts: [String], _ trust: PeerTrust?) throws {
        let words = try texts.map { try TrustWord($0) }
        try TrustWord.check(words)
        #expect(try PeerTrust(words) == trust)
    }

    @Test("what is nothing else is a file")
    func words() throws {
        #expect(try TrustWord("name=a.b") == .name("a.b") && TrustWord("./first") == .authority(file: "./first"))
    }

    @Test("a file of authorities has names; one that is not there is told")
    func authority() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path(percentEncoded: false)
        let words = try [TrustWord(file), TrustWord("name=db"), TrustWord("name=db")]
        try TrustWord.check(words)
        #expect(throws: PeerAuthority.Failure.self) { try PeerTrust(words) }
        try "pem".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(try PeerTrust(words) == .authority(PeerAuthority(certificates: "pem", names: ["db"])))
    }

    @Test(
        "what excludes each other, or says nothing",
        arguments: [
            ["first", key], ["first", "/ca.pem"], [key, "/ca.pem"], ["/ca.pem", "/other.pem"], ["name=db"],
            [key, "name=db"],
            ["name="], ["SHA256:short"],
        ])
    func refused(_ texts: [String]) {
        #expect(throws: TrustWord.Failure.self) { try TrustWord.check(texts.map { try TrustWord($0) }) }
    }
}
