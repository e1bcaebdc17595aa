internal import DNSSD
internal import Libc

extension String {
    /// The combining marks kept on one character. No script needs more, and a name full of them would cover other lines.
    private static let marksPerCharacter = 4

    /// The text in at most `columns` terminal columns; if longer, its end becomes `…`. Also bounds the bytes, because combining marks take
    /// no column.
    /// - Parameters:
    ///   - columns: the width; 0 leaves nothing.
    ///   - isUTF8: the terminal shows more than ASCII; otherwise other characters are escaped, as `\u{E9}`.
    public func fitted(to columns: Int, isUTF8: Bool = true) -> String {
        let text = tamed(isUTF8: isUTF8)
        guard DisplayWidth.of(text) > columns else { return text }
        let ending = isUTF8 ? "…" : "..."
        let room = columns - DisplayWidth.of(ending)
        guard room >= 0 else { return String(ending.prefix(max(columns, 0))) }
        var result = String.UnicodeScalarView()
        var counter = DisplayWidth.Counter()
        for scalar in text.unicodeScalars {
            counter.add(scalar)
            guard counter.width <= room else { break }
            result.append(scalar)
        }
        return String(result) + ending
    }

    /// The text in lines of at most so many terminal columns, broken at blanks where there are any. Never empty.
    package func wrapped(to columns: Int) -> [String] {
        let room = max(1, columns)
        var (lines, line, width) = ([String](), "", 0)
        for (index, word) in split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            let needed = DisplayWidth.of(word)
            let isAfterBreak = index > 0 && line.isEmpty && !lines.isEmpty
            if index > 0, !isAfterBreak, width + 1 + needed <= room {
                line += " " + word
                width += 1 + needed
                continue
            }
            if index > 0, !isAfterBreak {
                lines.append(line.trimmed { $0 == " " })
                (line, width) = ("", 0)
            }
            for character in word {
                let own = DisplayWidth.of(String(character))
                if width + own > room, width > 0 {
                    lines.append(line)
                    (line, width) = ("", 0)
                }
                line.append(character)
                width += own
            }
        }
        return lines + [line]
    }

    /// The longest end of the text that fits.
    public func tail(columns: Int) -> String {
        var room = columns
        let tail = reversed().prefix { character in
            room -= DisplayWidth.of(String(character))
            return room >= 0
        }
        return String(tail.reversed())
    }

    /// The text padded with blanks to `columns` columns.
    package func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(0, columns - DisplayWidth.of(self)))
    }

    /// The text as a terminal can show it: excess combining marks are escaped, and without UTF-8 all non-ASCII characters.
    package func tamed(isUTF8: Bool) -> String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in unicodeScalars {
            marks = DisplayWidth.isZeroWidth(scalar) ? marks + 1 : 0
            let isShown = scalar.isASCII || isUTF8 && marks <= Self.marksPerCharacter
            if isShown { result.append(scalar) } else { result.append(contentsOf: scalar.escaped.unicodeScalars) }
        }
        return String(result)
    }
}

extension StringProtocol {
    /// One line, safe for a terminal, even if the text was escaped before.
    package var oneLine: String {
        guard needsTerminalEscaping else { return String(self) }
        return unicodeScalars.map { String($0).escapedForTerminal }.joined()
    }

    /// The text without blanks at its ends.
    package func trimmed(of isBlank: (Character) -> Bool = \.isWhitespace) -> String {
        String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension Unicode.Scalar {
    /// `\u{E9}`
    fileprivate var escaped: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }
}

/// Properties of a terminal, from the environment and the system.
package enum TerminalText {
    /// Whether text is UTF-8 (setlocale(3): LC_ALL, then LC_CTYPE, then LANG). Assumes UTF-8 if none is set, as terminals do.
    package static func isUTF8(_ variable: (String) -> String? = environment) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable).first { !$0.isEmpty }
        guard let locale = locale?.lowercased() else { return true }
        return locale.contains("utf-8") || locale.contains("utf8")
    }

    /// The columns of the terminal behind a descriptor, else `COLUMNS`; nil if both are unknown.
    package static func columns(_ descriptor: Int32, _ variable: (String) -> String? = environment) -> Int? {
        if let text = variable("COLUMNS"), let count = Int(text), (1...100_000).contains(count) { return count }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

/// How many terminal columns text occupies.
public enum DisplayWidth {
    /// Wide and fullwidth characters other than emoji (Unicode's EastAsianWidth.txt, W and F), with unassigned ones in their blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x1FA70...0x1FAFF,
        0x20000...0x3FFFD,
    ]

    /// The columns of one character: 0, 1 or 2, as wcwidth(3) counts. Emoji with default emoji presentation have 2.
    public static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value < 0x20 || (0x7F...0x9F).contains(value) || value == 0xAD ? 0 : 1 }
        if isZeroWidth(scalar) { return 0 }
        // Terminals show a pair of regional indicators as one flag, two columns wide.
        if (0x1F1E6...0x1F1FF).contains(value) { return 1 }
        return wide.contains { $0.contains(value) } || scalar.properties.isEmojiPresentation ? 2 : 1
    }

    /// The columns of a text. An emoji with U+FE0F counts 2, as on most terminals.
    public static func of(_ text: some StringProtocol) -> Int {
        var counter = Counter()
        for scalar in text.unicodeScalars { counter.add(scalar) }
        return counter.width
    }

    /// Counts columns character by character.
    struct Counter {
        private(set) var width = 0
        /// The columns of the last character that had any.
        private var last = 0

        mutating func add(_ scalar: Unicode.Scalar) {
            let own = of(scalar)
            if own != 0 {
                last = own
                width += own
            } else if scalar.value == 0xFE0F, last == 1 {
                last = 2
                width += 1
            }
        }
    }

    /// Whether the character combines with the previous one, or is invisible.
    static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
        // Hangul vowels and finals join the preceding initial.
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FB).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return true
        default: return false
        }
    }
}
