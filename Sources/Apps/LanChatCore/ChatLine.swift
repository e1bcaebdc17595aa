/// What a client says: `iam:NICK` or `msg:TEXT`, one line each.
public enum ChatRequest: Hashable, Sendable {
    case join(String)
    case say(String)
    /// Neither of both.
    case unknown

    /// Reads a line without its end.
    public init(_ bytes: [UInt8]) {
        if bytes.starts(with: Array("iam:".utf8)) {
            self = .join(ChatText.clean(bytes.dropFirst(4)))
        } else if bytes.starts(with: Array("msg:".utf8)) {
            self = .say(ChatText.clean(bytes.dropFirst(4)))
        } else {
            self = .unknown
        }
    }
}

/// What a server says, as a client understands it. A nick has no colon, so that a line has one meaning.
public enum ChatEvent: Hashable, Sendable {
    case joined(String)
    case left(String)
    case message(nick: String, text: String)
    /// `* …`: the server's own words; and whatever else another server says.
    case notice(String)

    /// Reads a line without its end.
    public init(_ bytes: [UInt8]) {
        let line = ChatText.clean(bytes)
        if line.hasPrefix("* ") {
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

    private static func who(_ line: String, _ what: String) -> String? {
        line.hasSuffix(" \(what)") && line.count > what.count + 1 ? String(line.dropLast(what.count + 1)) : nil
    }
}
