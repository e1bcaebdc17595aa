/// The rule that a text breaks. The caller adds the text and a code to make it a `DiscoveryError`.
package struct BrokenRule: Error, Hashable {
    /// The rule, safe for a terminal, without an initial capital or a full stop.
    package let rule: String

    init(_ rule: String) { self.rule = rule }
}

extension DiscoveryError {
    /// Creates an error with the message `"the text": the rule that it breaks`.
    init(_ code: Code, _ text: String, _ broken: BrokenRule) {
        self.init(code, "\(text.quotedForMessage): \(broken.rule)")
    }
}

extension String {
    /// The text in double quotes for a message: escaped for a terminal, and cut after 80 scalars.
    package var quotedForMessage: String {
        let limit = 80
        let start = unicodeScalars.prefix(limit + 1)
        guard start.count > limit else { return "\"\(escapedForTerminal)\"" }
        return "\"\(String(start.dropLast()).escapedForTerminal)…\""
    }
}
