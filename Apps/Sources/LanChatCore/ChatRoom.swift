public import AppSupport
public import PeerIdentity

/// The members of a room, and what follows from what they say. A value: it sends nothing itself.
public struct ChatRoom<ID: Hashable & Sendable>: Sendable {
    /// A line to send, and to whom.
    public enum Delivery: Hashable, Sendable {
        case everyone(String)
        case one(ID, String)
    }

    private var nicks: [ID: Nick] = [:]
    /// The member that owns each look.
    private var looks: [String: ID] = [:]
    /// The clients' keys; none where the room is plain.
    private var keys: [ID: KeyFingerprint] = [:]
    private var owners = NickOwners()

    /// Creates an empty room.
    public init() {}

    /// The number of members.
    public var count: Int { nicks.count }

    /// Whether a client has joined.
    public func hasJoined(_ id: ID) -> Bool { nicks[id] != nil }

    /// A client has proven to have a key, before its first line: the nicks that it takes are that key's from then on.
    public mutating func proven(_ key: KeyFingerprint, of id: ID) { keys[id] = key }

    /// Handles a client's line.
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
            // An empty line is just a slip of the finger.
            return bytes.isEmpty ? [] : [.one(id, "* a line is iam:NICK, msg:TEXT or who:")]
        }
    }

    /// Handles a client that left or was dropped.
    public mutating func left(_ id: ID) -> [Delivery] {
        keys[id] = nil
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
        if let key = keys[id] {
            guard !owners.isTaken(nick, for: key) else { return [.one(id, "* the nick \(nick) is another's here")] }
            owners.give(nick, to: key)
        }
        for look in old?.looks ?? [] { looks[look] = nil }
        for look in nick.looks { looks[look] = id }
        nicks[id] = nick
        if let old { return [.everyone("* \(old) is now: \(nick)")] }
        return [.everyone("\(nick) has joined"), .one(id, whoIsHere)]
    }

    /// As many members as fit a line.
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
