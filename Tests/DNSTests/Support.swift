import DNSSD

extension SeededGenerator {
    mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Text of at most `limit` bytes, made of characters that parsers stumble over.
    mutating func text(limit: Int) -> String {
        let awkward: [Unicode.Scalar] = [
            ".", "\\", "0", "1", "9", "u", "{", "}", "_", "-", "#", " ", "a", "Z", "=", "\"", "\n", "\r", "\0",
            "\u{1B}",
            "\u{7F}", "\u{9B}", "ü", "\u{301}", "\u{202E}", "\u{200D}", "👨", "\u{FEFF}", "\u{FFFF}", "\u{FFFE}",
            "\u{E0041}",
        ]
        var result = String.UnicodeScalarView()
        var size = 0
        for _ in 0..<Int.random(in: 0...limit, using: &self) {
            let other = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self))
            let scalar = Int.random(in: 0..<8, using: &self) == 0 ? other : awkward.randomElement(using: &self)
            guard let scalar else { continue }
            size += UTF8.width(scalar)
            guard size <= limit else { break }
            result.append(scalar)
        }
        return String(result)
    }
}

/// U+FDD0, which the compiler refuses in a literal.
let nonCharacter = String(decoding: [0xFDD0], as: UTF16.self)

/// Service names that a stranger on the network may choose.
let hostileNames = [
    "\u{1B}[2J\u{1B}]0;owned\u{7}", "a\nb", "a\r\nb", "tab\tbed", "nul\0nul", "\u{7F}", "\u{9B}31m", "\u{202E}gpj.exe",
    "\u{2066}x\u{2069}", "zero\u{200B}width", "\u{FEFF}bom", "a;b", "\"quoted\"", "'", "../../etc/passwd", "$(reboot)",
    "`id`", "-rf", "%s%n", "a.b.c", "trailing.", ".", "..", "\\", "a\\.b", "\\032", "\\u{1B}", "{\"json\":", "tony #2",
    "👨‍👩‍👧‍👦👨‍👩‍👧", String(repeating: "🖨", count: 15) + "abc", "\u{FFFE}", nonCharacter, "\u{1FFFF}", "\u{2028}", "e\u{301}",
    "\u{301}",
    "\u{E0041}", "\u{AD}", " ", " leading", "_http._tcp.local", "a._http._tcp", String(repeating: "x", count: 63),
    String(repeating: "ü", count: 31), "\u{10FFFD}", "\u{E000}",
]

/// Texts that must not make any parser trap.
let absurdTexts =
    hostileNames + [
        "", "...", "._tcp", "_._tcp", "_tcp", "_tcp._tcp", "\\", "\\1", "\\12", "\\256", "\\999.a", "a\\", "%", "::",
        ":", "1.2.3",
        "[", "]", "!", "*", "=", "==", "====", "#", " #", " #2", " #99999999999999999999",
        String(repeating: "a", count: 100_000),
        String(repeating: ".", count: 100_000), String(repeating: "\\", count: 9_999),
        String(repeating: "\u{301}", count: 1000),
        String(repeating: ":", count: 45), String(repeating: "_x._tcp.", count: 200),
    ]

/// The error that `body` throws; nil if it throws none.
func refusal<Result>(_ body: () throws(DiscoveryError) -> Result) -> DiscoveryError? {
    do throws(DiscoveryError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Compares bytes: `==` of strings equates é with e and a combining accent.
func same(_ one: String?, _ other: String?) -> Bool {
    one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
}

/// Whether text is safe for a terminal: checked against the contract's list, independently of the code under test.
func isSafe(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
        switch $0.value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFDD0...0xFDEF, 0xE0000...0xE007F:
            false
        default: $0.value & 0xFFFE != 0xFFFE
        }
    }
}
