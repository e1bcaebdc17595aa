internal import DNSSD

/// A command and its arguments as one text: words between spaces; in double quotes, what has a space in it, with a backslash
/// before a quote or a backslash. No shell: nothing else means anything.
enum CommandWords {
    /// - Throws: `.invalidCheck` for a quote that is not closed.
    static func split(_ text: String) throws(DiscoveryError) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped || (isQuoted && scalar != "\"" && scalar != "\\") {
                word = (word ?? .init()) + [scalar]
                isEscaped = false
            } else if isQuoted && scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
                word = word ?? .init()
            } else if scalar == " " {
                if let word { words.append(String(word)) }
                word = nil
            } else {
                word = (word ?? .init()) + [scalar]
            }
        }
        guard !isQuoted else {
            throw DiscoveryError(.invalidCheck, "\(text.quotedForMessage): a quote is not closed")
        }
        if let word { words.append(String(word)) }
        return words
    }

    /// The text that is split into these words, and into no others.
    static func join(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    private static func quoted(_ word: String) -> String {
        guard word.isEmpty || word.unicodeScalars.contains(where: { $0 == " " || $0 == "\"" }) else { return word }
        var text = "\"".unicodeScalars
        for scalar in word.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.append("\\") }
            text.append(scalar)
        }
        text.append("\"")
        return String(text)
    }
}
