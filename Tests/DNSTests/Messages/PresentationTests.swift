import DNSMessage
import Testing

/// Names and types as people write them.
struct PresentationTests {
    @Test(
        arguments: [
            ("h1.local", "h1.local."), ("h1.local.", "h1.local."), (".", "."),
            (#"Front\.Door._http._tcp.local"#, #"Front\.Door._http._tcp.local."#),
            (#"a\032b.local"#, #"a\032b.local."#), ("a b.local", #"a\032b.local."#), (#"\255\a.x"#, #"\255a.x."#),
            ("Küche.local", #"K\195\188che.local."#), (#"a\."#, #"a\.."#), (#"\\.x."#, #"\\.x."#),
            (String(repeating: "a.", count: 127), String(repeating: "a.", count: 127)),
        ])
    func names(_ text: String, _ shown: String) throws {
        let name = try DomainName(presentation: text)
        #expect(name.description == shown)
        #expect(try DomainName(presentation: shown) == name)
    }

    @Test(
        arguments: [
            "", "..", ".a", "a..b", "a..", #"a\"#, #"a\25"#, #"a\256"#, #"a\2x5"#, String(repeating: "a", count: 64),
            String(repeating: "abcdefg.", count: 33), String(repeating: "a.", count: 128),
            String(repeating: ".", count: 100_000),
        ])
    func broken(_ text: String) {
        #expect(throws: MessageError.self) { try DomainName(presentation: text) }
    }

    @Test(
        arguments: [
            ("A", 1), ("srv", 33), ("TYPE33", 33), ("type65", 65), ("65", 65), ("ANY", 255), ("TYPE0", 0),
            ("65535", 65535), ("mx", 15), ("CAA", 257), ("HTTPS", 65), ("SVCB", 64), ("NSAP-PTR", 23), ("SSHFP", 44),
        ])
    func types(_ text: String, _ number: Int) {
        #expect(RecordType(text: text).map { Int($0.rawValue) } == number)
    }

    @Test(arguments: ["", "TYPE", "TYPE65536", "-1", "+1", "TYPE+1", "NONSENSE", "TYPE 1", "٣"])
    func noTypes(_ text: String) { #expect(RecordType(text: text) == nil) }
}
