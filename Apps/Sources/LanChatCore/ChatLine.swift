/// A client's line: `iam:NICK`, `msg:TEXT` or `who:`.
public enum ChatRequest: Hashable, Sendable {
    case join(String)
    case say(String)
    case who
    /// Anything else.
    case unknown

    /// Parses a line without its terminator.
    public init(_ bytes: [UInt8]) {
        if bytes.starts(with: Array("iam:".utf8)) {
            self = .join(ChatText.clean(bytes.dropFirst(4)))
        } else if bytes.starts(with: Array("msg:".utf8)) {
            self = .say(ChatText.clean(bytes.dropFirst(4)))
        } else if bytes == Array("who:".utf8) {
            self = .who
        } else {
            self = .unknown
        }
    }
}

/// A server's line, as a client understands it. Nicks contain no colon, so each line has one meaning.
public enum ChatEvent: Hashable, Sendable {
    case joined(String)
    /// `* WAS is now: NICK`.
    case renamed(was: String, nick: String)
    case left(String)
    case message(nick: String, text: String)
    /// `* …`: the server's own messages, and anything else that another server may send.
    case notice(String)

    /// Parses a line without its terminator.
    public init(_ bytes: [UInt8]) {
        let line = ChatText.clean(bytes)
        if let (was, nick) = Self.renaming(line) {
            self = .renamed(was: was, nick: nick)
        } else if line.hasPrefix("* ") {
            self = .notice(String(line.dropFirst(2)))
        } else if let colon = line.firstIndex(of: ":"), colon != line.startIndex {
            let text = line[line.index(after: colon)...]
            self = .message(nick: String(line[..<colon]), text: String(text.drop { $0 == " " }))
        } else if let nick = Self.who(line, "has joined") {
            self = .joined(nick)
        } else if let nick = Self.who(line, "has left") {
            self = .left(nick)
        } else {
            self = .notice(line)
        }
    }

    /// The nick ends at the first colon, because nicks contain none.
    private static func renaming(_ line: String) -> (String, String)? {
        guard line.hasPrefix("* "), let colon = line.firstIndex(of: ":") else { return nil }
        let beginning = line[..<colon].dropFirst(2)
        let words = " is now"
        guard beginning.hasSuffix(words), beginning.count > words.count else { return nil }
        return (String(beginning.dropLast(words.count)), String(line[colon...].dropFirst().drop { $0 == " " }))
    }

    private static func who(_ line: String, _ what: String) -> String? {
        line.hasSuffix(" \(what)") && line.count > what.count + 1 ? String(line.dropLast(what.count + 1)) : nil
    }
}
