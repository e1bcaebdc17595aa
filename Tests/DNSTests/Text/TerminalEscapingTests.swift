import DNSSD
import Testing

@Suite("Escaping for terminals")
struct TerminalEscapingTests {
    @Test(
        arguments: [
            ("\u{1B}[31m", "\\u{1B}[31m"), ("a\nb", "a\\u{A}b"), ("a\r\nb", "a\\u{D}\\u{A}b"), ("\u{7F}", "\\u{7F}"),
            ("\u{80}\u{9F}", "\\u{80}\\u{9F}"), ("\u{202E}x", "\\u{202E}x"), ("\u{2069}", "\\u{2069}"),
            ("\u{200E}\u{200F}\u{61C}", "\\u{200E}\\u{200F}\\u{61C}"), ("\u{200B}", "\\u{200B}"),
            ("\u{FEFF}", "\\u{FEFF}"),
            ("\u{180E}\u{AD}", "\\u{180E}\\u{AD}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
            ("\u{E0041}", "\\u{E0041}"), ("\u{FFFE}\u{10FFFF}", "\\u{FFFE}\\u{10FFFF}"), ("👨‍👧", "👨\\u{200D}👧"),
            ("\0", "\\u{0}"), ("tony\u{FE0F}", "tony\\u{FE0F}"), ("\u{FE0E}", "\\u{FE0E}"),
            ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\u{FE0F}"), ("1\u{FE0F}", "1\\u{FE0F}"), ("\u{3164}", "\\u{3164}"),
        ])
    func dangerousCharactersAreShown(text: String, shown: String) {
        #expect(same(text.escapedForTerminal, shown))
        #expect(text.needsTerminalEscaping)
    }

    @Test(arguments: [
        "", "tony", "Büro 2 🖨", "❤️", "\u{A0}", "e\u{301}", "日本", "\u{E000}", "a\\b", "\\", "\\\\u", "{}", "\\u",
    ])
    func everythingElseStays(text: String) {
        #expect(same(text.escapedForTerminal, text))
        #expect(!text.needsTerminalEscaping)
    }

    @Test(
        "Text that reads as an escape is escaped",
        arguments: [("\\u{1B}", "\\u{5C}u{1B}"), ("\\\\u{1B}", "\\\\u{5C}u{1B}")])
    func escapesCannotBeForged(text: String, shown: String) {
        #expect(text.escapedForTerminal == shown)
    }

    @Test func everyScalarAlone() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(scalar)
            if !isSafe(text.escapedForTerminal) { Issue.record("U+\(String(value, radix: 16)) came through") }
        }
    }

    @Test("The original text can be recovered from what is shown")
    func escapingLosesNothing() throws {
        var generator = SeededGenerator(seed: 1)
        for text in hostileNames + (0..<3000).map({ _ in generator.text(limit: 40) }) {
            let shown = text.escapedForTerminal
            #expect(isSafe(shown))
            #expect(same(try unescape(shown), text))
            #expect(
                same(
                    "x\(text)y".dropFirst().dropLast().escapedForTerminal,
                    String("x\(text)y".dropFirst().dropLast()).escapedForTerminal
                )
            )
        }
    }

    private func unescape(_ shown: String) throws -> String {
        var result = String.UnicodeScalarView()
        var rest = shown.unicodeScalars[...]
        while let scalar = rest.first {
            if rest.starts(with: "\\u{".unicodeScalars) {
                let end = try #require(rest.firstIndex(of: "}"))
                let digits = String(rest[rest.index(rest.startIndex, offsetBy: 3)..<end])
                result.append(try #require(UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)))
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(scalar)
                rest.removeFirst()
            }
        }
        return String(result)
    }

    @Test func quotesForMessagesAreBounded() {
        #expect("a\nb".quotedForMessage == "\"a\\u{A}b\"")
        #expect(String(repeating: "\u{10FFFF}", count: 100_000).quotedForMessage.utf8.count < 1000)
        #expect(String(repeating: "x", count: 81).quotedForMessage.hasSuffix("x…\""))
    }
}
