extension String {
    /// The text as one word of a POSIX shell's command line. By bytes, as a shell reads them: to Swift a quote with a combining mark after it
    /// is another character.
    package var quotedForPOSIXShell: String {
        let quote = UInt8(ascii: "'")
        return "'" + String(decoding: utf8.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] }, as: UTF8.self) + "'"
    }
}
