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
