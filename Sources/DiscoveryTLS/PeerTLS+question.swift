#if TLS
internal import DNSSD
internal import PeerIdentity

extension PeerTLS.Question {
    /// The question for a person, who answers yes or no; safe for a terminal.
    public var text: String {
        """
        \(introduction)
        Is it the one that 'discoverd identity' prints there (yes/no)?
        """
    }

    /// Whose key it is, and under which names it is known; safe for a terminal.
    public var introduction: String {
        let who =
            if case .label = name { "A caller names itself \(name.word); its key" } else { "The key of \(name.word)" }
        var lines = ["\(who) is not known:", "  \(key)", "  \(key.words.joined(separator: " "))"]
        if !otherNames.isEmpty {
            lines.append(
                "It is known under another name: \(otherNames.prefix(3).map(\.word).joined(separator: ", "))")
        }
        return lines.joined(separator: "\n")
    }
}
#endif
