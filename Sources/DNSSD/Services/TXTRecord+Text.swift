extension TXTRecord: CustomStringConvertible {
    /// The strings as quoted text, such as `"path=/x" "flag"`; safe for a terminal.
    public var description: String { readable.escapedForTerminal }

    /// The strings as quoted text: `"path=/x" "flag"`; a quote, a backslash and bytes that are not UTF-8 are escaped, other characters are not.
    public var readable: String { entries.map(\.readable).joined(separator: " ") }
}

extension TXTRecord.Entry: CustomStringConvertible {
    /// The string as quoted text, such as `"path=/x"`; safe for a terminal.
    public var description: String { readable.escapedForTerminal }

    /// The string as quoted text, as `TXTRecord.readable` has it.
    public var readable: String {
        guard let value else { return "\"\(Self.quote(key))\"" }
        return "\"\(Self.quote(key))=\(text.map(Self.quote) ?? Self.quoteBytes(value))\""
    }

    private static func quote(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted
    }

    private static func quoteBytes(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
                ? String(Unicode.Scalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + digits
        }.joined()
    }
}
