public import AppSupport

/// Who is there, and what follows from what they say. A value: it sends nothing itself.
public struct ChatRoom<ID: Hashable & Sendable>: Sendable {
    /// What to send.
    public enum Delivery: Hashable, Sendable {
        case everyone(String)
        case one(ID, String)
    }

    private var nicks: [ID: Nick] = [:]
    private var keys: Set<String> = []

    /// A room without anyone.
    public init() {}

    /// How many have joined.
    public var count: Int { nicks.count }

    /// Whether someone has joined.
    public func hasJoined(_ id: ID) -> Bool { nicks[id] != nil }

    /// A client sent a line.
    public mutating func received(_ line: LineFraming.Line, from id: ID) -> [Delivery] {
        guard case .line(let bytes) = line else {
            return [.one(id, "* that line is too long: \(ChatText.maximumLine) bytes at most")]
        }
        switch ChatRequest(bytes) {
        case .join(let text): return join(id, text)
        case .say(let text):
            guard let nick = nicks[id] else { return [.one(id, "* say who you are first: iam:NICK")] }
            return text.isEmpty ? [] : [.everyone("\(nick): \(text)")]
        case .unknown:
            // An empty line is a slip of the finger.
            return bytes.isEmpty ? [] : [.one(id, "* a line is iam:NICK or msg:TEXT")]
        }
    }

    /// A client went, or was dropped.
    public mutating func left(_ id: ID) -> [Delivery] {
        guard let nick = nicks.removeValue(forKey: id) else { return [] }
        keys.remove(nick.key)
        return [.everyone("\(nick) has left")]
    }

    private mutating func join(_ id: ID, _ text: String) -> [Delivery] {
        if let nick = nicks[id] { return [.one(id, "* you are \(nick) already")] }
        guard let nick = Nick(text) else {
            return [.one(id, "* a nick has 1 to \(Nick.maximumLength) printable characters, no colon and no leading *")]
        }
        guard keys.insert(nick.key).inserted else { return [.one(id, "* the nick \(nick) is taken")] }
        nicks[id] = nick
        return [.everyone("\(nick) has joined")]
    }
}
