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
