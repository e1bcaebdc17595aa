import PeerIdentity

/// Whose nicks are in a room whose members have keys: the key that came first with a nick keeps it, also while it is away.
///
/// Bounded: a key keeps its newest nicks, and of all keys those that came last.
struct NickOwners: Sendable {
    /// How many nicks a key keeps.
    static let nicksOfKey = 8
    /// How many keys are remembered.
    static let keys = 1024

    /// The key that has each look.
    private var owners: [String: KeyFingerprint] = [:]
    /// Oldest first.
    private var nicks: [KeyFingerprint: [Nick]] = [:]
    /// The keys, the one that came last at the end.
    private var order: [KeyFingerprint] = []

    /// Whether a nick, or one that looks like it, is another key's.
    func isTaken(_ nick: Nick, for key: KeyFingerprint) -> Bool {
        nick.looks.contains { look in owners[look].map { $0 != key } ?? false }
    }

    /// Gives a nick that is not taken to a key.
    mutating func give(_ nick: Nick, to key: KeyFingerprint) {
        order.removeAll { $0 == key }
        order.append(key)
        var own = (nicks[key] ?? []).filter { $0 != nick } + [nick]
        if own.count > Self.nicksOfKey { free(own.removeFirst(), of: key) }
        nicks[key] = own
        // A nick that went may have shared a look with one that stays.
        for nick in own { for look in nick.looks { owners[look] = key } }
        guard order.count > Self.keys else { return }
        let oldest = order.removeFirst()
        for nick in nicks.removeValue(forKey: oldest) ?? [] { free(nick, of: oldest) }
    }

    private mutating func free(_ nick: Nick, of key: KeyFingerprint) {
        for look in nick.looks where owners[look] == key { owners[look] = nil }
    }
}
