extension StringProtocol {
    /// The text with escapes, such as `\u{1B}`, for characters that could move the cursor, hide, or reverse text.
    ///
    /// A backslash stays as it is, except before `u{`, where it becomes `\u{5C}`, so that everything that reads as an
    /// escape is one. Do not apply it to text that is already escaped.
    public var escapedForTerminal: String { String(self).escaped }

    /// Whether `escapedForTerminal` would change the text, as with a name that tries to look like another.
    public var needsTerminalEscaping: Bool { !escapedForTerminal.utf8.elementsEqual(utf8) }
}

extension String {
    /// The same of a message, which has its escapes already if its program knew what it quoted: then it stays as it is.
    package var escapedOnce: String {
        replacing("\\u{", with: "{").needsTerminalEscaping ? escapedForTerminal : self
    }
}

extension String {
    fileprivate var escaped: String {
        guard utf8.contains(where: { $0 < 0x20 || $0 > 0x7E || $0 == 0x5C }) else { return self }
        var result = String.UnicodeScalarView()
        var rest = unicodeScalars[...]
        var previous: Unicode.Scalar?
        while let scalar = rest.popFirst() {
            if scalar.isUnsafeForTerminal(after: previous) || (scalar == "\\" && rest.starts(with: ["u", "{"])) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// Returns true for C0, DEL, C1, bidi controls, characters of zero width, line and paragraph separators, tags and
    /// non-characters.
    ///
    /// Private use characters are safe: icon fonts use them. U+FE0E and U+FE0F are safe after an emoji, where they
    /// choose between text and picture. ZERO WIDTH JOINER never is, so a joined emoji is shown as its parts.
    func isUnsafeForTerminal(after previous: Unicode.Scalar?) -> Bool {
        switch value {
        case 0x20...0x7E: false
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF: true
        case 0xFE0E, 0xFE0F: !(previous.map { !$0.isASCII && $0.properties.isEmoji } ?? false)
        default: properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint
        }
    }
}
