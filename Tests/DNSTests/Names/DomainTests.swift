import DNSSD
import Testing

@Suite("Domain and HostName")
struct DomainTests {
    static let long = Array(repeating: String(repeating: "a", count: 63), count: 3).joined(separator: ".")

    @Test(
        "RFC 1035 §2.3.4: names within the limits",
        arguments: [
            ("local", "local"), ("local.", "local"), ("example.org", "example.org"), ("Büro.local", "Büro.local"),
            ("a\\.b.local", "a\\.b.local"), ("My\\032Host.local", "My Host.local"), ("\\195\\188.x", "ü.x"),
            ("\\a.b", "a.b"),
            ("\(long).\(String(repeating: "a", count: 61))", "\(long).\(String(repeating: "a", count: 61))"),
        ]
    )
    func accepted(text: String, name: String) throws {
        #expect(try Domain(text).text == name)
        #expect(try HostName(text).text == name)
        #expect(Domain(observed: text)?.text == name)
        #expect(HostName(observed: text)?.text == name)
    }

    @Test(
        "RFC 1035 §2.3.4: names beyond them",
        arguments: [
            ("", "empty"), (".", "label is empty"), ("a..b", "label is empty"), (".a", "label is empty"),
            ("a\\", "backslash"),
            (String(repeating: "a", count: 64), "64 bytes"),
            ("\(long).\(String(repeating: "a", count: 62))", "256 bytes"),
            ("\\255.local", "UTF-8"), ("\\300.local", "255"), ("a\\1", "000 to 255"), ("a\\12", "000 to 255"),
            ("a\\12.local", "000 to 255"), (String(repeating: "a.", count: 128), "257 bytes"),
            (String(repeating: "a.", count: 500_000), "longer than"),
        ]
    )
    func refused(text: String, fragment: String) {
        let domain = refusal { () throws(DiscoveryError) in try Domain(text) }
        let host = refusal { () throws(DiscoveryError) in try HostName(text) }
        #expect(domain?.code == .invalidDomain && host?.code == .invalidHostName)
        #expect(
            domain?.message.contains(fragment) == true && host?.message == domain?.message,
            "\(domain?.message ?? "")"
        )
        #expect(Domain(observed: text) == nil)
        #expect((HostName(observed: text) == nil) != (fragment == "UTF-8"))
    }

    @Test("A host's name that is not UTF-8 is seen by escape")
    func bytes() throws {
        let host = try #require(HostName(labels: [[0x42, 0xFC, 0x72, 0x2E, 0x6F], Array("local".utf8)]))
        #expect(host.text == "B\\252r\\.o.local")
        #expect(HostName(observed: host.text) == host)
        #expect(HostName(labels: [[0xFC], []]) == nil && HostName(labels: [[UInt8]]()) == nil)
    }

    @Test(
        "A name that a person may not choose may still be seen",
        arguments: ["\u{1B}.local", "\\027.local", "\u{FFFF}.local", "a\nb.local"]
    )
    func seenOnly(text: String) throws {
        #expect(refusal { () throws(DiscoveryError) in try Domain(text) } != nil)
        #expect(refusal { () throws(DiscoveryError) in try HostName(text) } != nil)
        let host = try #require(HostName(observed: text))
        #expect(isSafe(host.text) && isSafe(host.description))
        #expect(HostName(observed: host.text) == host)
        #expect(try isSafe(#require(Domain(observed: text)).description))
    }

    @Test("RFC 4343: letters count once, whatever their case, and however they are escaped")
    func equality() throws {
        #expect(try Domain("LOCAL") == .local)
        #expect(try Domain("LOCAL").hashValue == Domain.local.hashValue)
        #expect(try Domain("\\108ocal.") == .local)
        #expect(try HostName("H1.local") == HostName("h1.LOCAL"))
        #expect(try HostName("é.local") != HostName("e\u{301}.local"))
        #expect(try Domain("a\\.b") != Domain("a.b"))
        #expect(try [Domain("b"), Domain("A")].sorted() == [Domain("a"), Domain("B")])
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        for case let name? in [Domain(observed: text)?.text, HostName(observed: text)?.text] {
            #expect(isSafe(name))
            #expect(Domain(observed: name)?.text == name)
        }
        _ = refusal { () throws(DiscoveryError) in try Domain(text) }
        _ = refusal { () throws(DiscoveryError) in try HostName(text) }
    }
}
