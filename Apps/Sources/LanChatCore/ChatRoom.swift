public import AppSupport

/// Who is there, and what follows from what they say. A value: it sends nothing itself.
public struct ChatRoom<ID: Hashable & Sendable>: Sendable {
    /// What to send.
    public enum Delivery: Hashable, Sendable {
        case everyone(String)
        case one(ID, String)
    }

    private var nicks: [ID: Nick] = [:]
    /// Who has which look.
    private var looks: [String: ID] = [:]

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
        case .who: return [.one(id, whoIsHere)]
        case .unknown:
            // An empty line is a slip of the finger.
            return bytes.isEmpty ? [] : [.one(id, "* a line is iam:NICK, msg:TEXT or who:")]
        }
    }

    /// A client went, or was dropped.
    public mutating func left(_ id: ID) -> [Delivery] {
        guard let nick = nicks.removeValue(forKey: id) else { return [] }
        for look in nick.looks { looks[look] = nil }
        return [.everyone("\(nick) has left")]
    }

    private mutating func join(_ id: ID, _ text: String) -> [Delivery] {
        let nick: Nick
        do throws(Nick.Refusal) {
            nick = try Nick(text)
        } catch {
            return [.one(id, "* \(error)")]
        }
        let old = nicks[id]
        if old?.description == nick.description { return [.one(id, "* you are \(nick) already")] }
        if let other = nick.looks.compactMap({ looks[$0] }).first(where: { $0 != id }).flatMap({ nicks[$0] }) {
            let reason =
                other.isSame(as: nick) ? "the nick \(nick) is taken" : "\(nick) looks like \(other), who is here"
            return [.one(id, "* \(reason)")]
        }
        for look in old?.looks ?? [] { looks[look] = nil }
        for look in nick.looks { looks[look] = id }
        nicks[id] = nick
        if let old { return [.everyone("* \(old) is now: \(nick)")] }
        return [.everyone("\(nick) has joined"), .one(id, whoIsHere)]
    }

    /// As many as fit into a line.
    private var whoIsHere: String {
        if nicks.isEmpty { return "* nobody is here" }
        var line = "* here: "
        let names = nicks.values.map(\.description).sorted()
        for (index, name) in names.enumerated() {
            guard line.utf8.count + name.utf8.count < ChatText.maximumLine / 2 else {
                return line + ", and \(names.count - index) more"
            }
            line += index == 0 ? name : ", \(name)"
        }
        return line
    }
}
