import DiscoveryDaemon
import DiscoveryJSON
import Testing

/// The authority that a request names (RFC 9112 §3.2).
@Suite struct AuthorityTests {
    @Test(
        arguments: [
            ("h1", "h1", nil), ("H1.local:80", "h1.local", 80), ("[::1]", "::1", nil),
            ("[FE80::1]:9331", "fe80::1", 9331),
            ("127.0.0.1:", "127.0.0.1", nil), ("", "", nil), ("localhost:65535", "localhost", 65535),
        ] as [(String, String, UInt16?)])
    func isHostAndPort(_ text: String, _ host: String, _ port: UInt16?) {
        #expect(Authority(text)?.host == host)
        #expect(Authority(text)?.port == port)
    }

    @Test(arguments: [
        "localhost:80.evil.com", "localhost:x@evil.com", "[::1]evil.com", "[::1]:80.evil.com", "[::1", "::1",
        "[127.0.0.1]",
        "user@localhost", "a b", "a/b", "a,b", "h:65536", "h:-1", "h:+1", "h:1:2", "[fe80::1%1]", "[::1]@evil.com", "é",
        "a%2eb",
        "a\u{0}", "[]", "h:80 ", " h",
    ]) func isNothingElse(_ text: String) {
        #expect(Authority(text) == nil)
        #expect(!OriginPolicy.isLocal(text))
    }

    @Test func ofATargetInAbsoluteForm() {
        #expect(Authority.ofTarget("/v1/ping") == nil && Authority.ofTarget("*") == nil)
        #expect(Authority.ofTarget("http://H1:80/v1/ping") == .some(Authority("h1:80")))
        #expect(Authority.ofTarget("http://h1?x") == .some(Authority("h1")))
        #expect(Authority.ofTarget("http://localhost@evil.com/") == .some(nil))
    }

    @Test(
        arguments: [
            ("http://h1:80/v1/ping?a=http://b#c", "/v1/ping?a=http://b"), ("HTTP://h1", "/"), ("http://h1?x", "/?x"),
            ("http://h1#/v1/ping", "/"), ("/v1/ping", "/v1/ping"), ("/http://h1/v1", "/http://h1/v1"), ("*", "*"),
            ("x/y://h1/v1/ping", "x/y://h1/v1/ping"), ("http:/v1/ping", "http:/v1/ping"), ("", ""),
        ] as [(String, String)])
    func originForm(_ target: String, _ path: String) { #expect(Authority.originForm(of: target) == path) }

    @Test func onlyThisMachinesNamesAndAddressesAreLocal() {
        for text in ["localhost", "LOCALHOST:80", "127.0.0.1:9331", "[::1]:9331", "10.0.0.1", "Monitor.Example.org:1"] {
            #expect(OriginPolicy.isLocal(text, hosts: ["monitor.example.org"]), "\(text)")
        }
        for text in ["", "evil.com", "localhost.evil.com", "127.0.0.1.evil.com", "0x7f.1", "2130706433"] {
            #expect(!OriginPolicy.isLocal(text, hosts: ["monitor.example.org"]), "\(text)")
        }
    }

    @Test func onlyOurOwnPagesAndPeopleAreOwn() {
        for text in ["same-origin", "none", "None"] { #expect(OriginPolicy.isOwnSite(text)) }
        for text in ["cross-site", "Cross-Site", "same-site", "none, cross-site", ""] {
            #expect(!OriginPolicy.isOwnSite(text))
        }
    }
}
