/// Which rule a text broke; the caller adds the text and the code to make a `DiscoveryError` of it.
struct BrokenRule: Error, Hashable {
    /// Terminal-safe, beginning in lower case, without a full stop.
    let rule: String

    init(_ rule: String) { self.rule = rule }
}

extension DiscoveryError {
    /// `"the text": the rule that it broke`.
    init(_ code: Code, _ text: String, _ broken: BrokenRule) {
        self.init(code, "\(text.quotedForMessage): \(broken.rule)")
    }
}

extension String {
    /// The text in double quotes for a message: escaped for a terminal, and cut when it is long.
    package var quotedForMessage: String {
        let limit = 80
        let start = unicodeScalars.prefix(limit + 1)
        guard start.count > limit else { return "\"\(escapedForTerminal)\"" }
        return "\"\(String(start.dropLast()).escapedForTerminal)…\""
    }
}
