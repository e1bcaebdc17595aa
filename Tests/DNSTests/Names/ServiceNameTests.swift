import DNSSD
import Testing

@Suite("ServiceName")
struct ServiceNameTests {
    @Test(
        "RFC 6763 §4.1.1: any text of up to 63 bytes",
        arguments: [
            "tony", "Büro 2 🖨", ".", "a.b\\c", "$(reboot)", " ", String(repeating: "x", count: 63),
            String(repeating: "🖨", count: 15) + "abc", "\u{202E}x", "\u{85}",
        ]
    )
    func accepted(text: String) throws {
        #expect(same(try ServiceName(text).text, text))
    }

    @Test(
        "RFC 6763 §4.1.1: names that are refused, and why",
        arguments: [
            ("", "empty"), (String(repeating: "x", count: 64), "64 bytes"),
            (String(repeating: "🖨", count: 16), "64 bytes"),
            ("a\nb", "\\u{A}"), ("\u{1B}", "\\u{1B}"), ("\0", "\\u{0}"), ("\u{7F}", "\\u{7F}"),
            ("\u{FFFE}", "not a character"),
            ("\u{FFFF}", "\\u{FFFF}"), (nonCharacter, "\\u{FDD0}"),
            ("\u{10FFFF}", "\\u{10FFFF}"),
        ]
    )
    func refused(text: String, fragment: String) {
        let error = refusal { () throws(DiscoveryError) in try ServiceName(text) }
        #expect(error?.code == .invalidServiceName)
        #expect(error?.message.contains(fragment) == true, "\(error?.message ?? "accepted")")
        #expect(error.map { isSafe($0.message) } == true)
    }

    @Test(
        "RFC 6763 Appendix D: the next name, counted as Avahi counts",
        arguments: [
            ("tony", "tony #2"), ("tony #2", "tony #3"), ("x #9", "x #10"), ("x #1", "x #2"), ("x #0", "x #0 #2"),
            ("x #-3", "x #-3 #2"), ("x #02", "x #02 #2"), ("x # 2", "x # 2 #2"), (" #2", " #3"), ("x#2", "x#2 #2"),
            ("2", "2 #2"),
            ("x #2 ", "x #2  #2"), ("x #９", "x #９ #2"), ("tony #2147483647", "tony #2147483648"),
            ("x #9223372036854775806", "x #9223372036854775807"),
            ("x #9223372036854775807", "x #9223372036854775807 #2"),
            ("x #99999999999999999999999", "x #99999999999999999999999 #2"),
        ]
    )
    func nextAfterCollision(name: String, next: String) throws {
        #expect(same(try ServiceName(name).nextAfterCollision().text, next))
    }

    @Test("The text is cut between characters")
    func cutting() throws {
        let letters = try ServiceName(String(repeating: "x", count: 63))
        #expect(letters.nextAfterCollision().text == String(repeating: "x", count: 60) + " #2")
        let printers = try ServiceName(String(repeating: "🖨", count: 15) + "abc")
        #expect(printers.nextAfterCollision().text == String(repeating: "🖨", count: 15) + " #2")
        let accents = try ServiceName(String(repeating: "e\u{301}", count: 21))
        #expect(same(accents.nextAfterCollision().text, String(repeating: "e\u{301}", count: 20) + " #2"))
        let family = try ServiceName("👨‍👩‍👧‍👦👨‍👩‍👧‍👦abcdefghijklm")
        #expect(family.text.utf8.count == 63)
        #expect(same(family.nextAfterCollision().text, "👨‍👩‍👧‍👦👨‍👩‍👧‍👦abcdefghij #2"))
        let twoFamilies = try ServiceName("abcdefghijklm👨‍👩‍👧‍👦👨‍👩‍👧‍👦")
        #expect(same(twoFamilies.nextAfterCollision().text, "abcdefghijklm👨‍👩‍👧‍👦 #2"))
        let oneCharacter = try ServiceName("e" + String(repeating: "\u{301}", count: 31))
        #expect(same(oneCharacter.nextAfterCollision().text, "e" + String(repeating: "\u{301}", count: 29) + " #2"))
    }

    @Test("Every next name is valid and new")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let text = generator.text(limit: 63)
            guard var name = try? ServiceName(text) else { continue }
            var seen: Set<ServiceName> = [name]
            for _ in 0..<120 {
                name = try ServiceName(name.nextAfterCollision().text)
                #expect(seen.insert(name).inserted)
            }
        }
    }

    @Test func namesAreComparedByteForByte() {
        #expect(ServiceName(observed: "é") != ServiceName(observed: "e\u{301}"))
        #expect(ServiceName(observed: "Tony") != ServiceName(observed: "tony"))
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        _ = refusal { () throws(DiscoveryError) in try ServiceName(text) }
        let observed = ServiceName(observed: text)
        #expect(isSafe(observed.description))
        #expect(observed.nextAfterCollision().text.utf8.count <= ServiceName.maximumLength)
    }
}
