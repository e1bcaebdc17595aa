import AppSupport
import DNSSD

/// Text that is passed on: makes bytes from a client safe for any terminal.
public enum ChatText {
    /// The maximum length of a line in bytes, in both directions.
    public static let maximumLine = 4096

    /// The bytes as text. Invalid UTF-8, and every character that could move a cursor, hide itself or reorder text, becomes U+FFFD. Blanks
    /// at both ends are removed.
    public static func clean(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars {
            // A tab counts as a blank; variation selectors only choose how an emoji looks.
            switch scalar.value {
            case 0x09: text.append(" ")
            case 0xFE0E, 0xFE0F: text.append(scalar)
            default: text.append(String(scalar).needsTerminalEscaping ? "\u{FFFD}" : scalar)
            }
        }
        return String(trimming(text))
    }

    private static func trimming(_ text: String.UnicodeScalarView) -> Substring.UnicodeScalarView {
        guard let first = text.firstIndex(where: { $0 != " " }), let last = text.lastIndex(where: { $0 != " " }) else {
            return Substring.UnicodeScalarView()
        }
        return text[first...last]
    }
}
