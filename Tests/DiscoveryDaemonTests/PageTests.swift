import DiscoveryDaemon
import Testing

/// The page's files and its session, as values.
@Suite("the page")
struct PageTests {
    @Test("a token is exchanged once; the key is worth nothing before, the token nothing after")
    func session() {
        var secrets = ["token", "key!!"].makeIterator()
        var session = PageSession { secrets.next() ?? "" }
        #expect(!session.admits("Bearer key!!") && !session.admits(nil) && !session.admits("Bearer token"))
        for wrong in [
            nil, "", "token", "Bearer", "Bearer ", "Bearer toke", "Bearer tokens", "bearer token", "Bearer key!!",
        ] {
            #expect(session.exchange(wrong) == nil, "\(wrong ?? "none")")
        }
        #expect(session.exchange("Bearer token") == "key!!")
        #expect(session.admits("Bearer key!!"))
        #expect(session.exchange("Bearer token") == nil)
        for wrong in [nil, "Bearer token", "Bearer ", "Bearer key!", "key!!"] { #expect(!session.admits(wrong)) }
    }

    @Test("secrets have 128 bits, each others")
    func secrets() {
        let secrets = (0..<100).map { _ in PageSession.secret() }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test("every file that the page names is there, and none is another site's")
    func files() throws {
        var wanted: Set<String> = ["index.html"]
        var seen: Set<String> = []
        while let name = wanted.subtracting(seen).first {
            seen.insert(name)
            let file = try #require(PageFile.at([name]), "\(name)")
            #expect(!file.bytes.isEmpty)
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: /(?:href|src)="([^"#]+)"|from "\.\/([^"]+)"/) {
                if let name = match.output.1 ?? match.output.2 { wanted.insert(String(name)) }
            }
            let other = text.replacing("http://www.w3.org/2000/svg", with: "")
            #expect(
                !other.contains("http://") && !other.contains("https://") && !other.contains("innerHTML"), "\(name)")
        }
        #expect(seen.count > 10)
        #expect(PageFile.at([]) != nil && PageFile.at(["favicon.ico"]) != nil)
        #expect(PageFile.at(["..", "app.js"]) == nil && PageFile.at(["v1"]) == nil)
    }
}
