/// Which keys are let in.
public enum PeerTrust: Hashable, Sendable {
    /// Those that are known; a person is asked about others, if there is one.
    case known
    /// Those that are known, and for a name without a key the first that comes.
    case first
    /// These, whatever is known.
    case pinned(Set<KeyFingerprint>)
}

/// What is to be done about a peer's key.
public enum PeerVerdict: Hashable, Sendable {
    /// It is let in.
    case known
    /// It is let in, and becomes the name's key.
    case learned
    /// It is not known; someone may say yes.
    /// - Parameter names: names that it is known under.
    case unknown(names: [PeerName])
    /// The name has another key. Never let in.
    case changed(from: [KeyFingerprint])
    /// It is none of those that are pinned. Never let in.
    case foreign
}

extension KnownPeers {
    /// Judges the key of someone who was dialled by name.
    public func verdict(on key: KeyFingerprint, of name: PeerName, _ trust: PeerTrust) -> PeerVerdict {
        if case .pinned(let keys) = trust { return keys.contains(key) ? .known : .foreign }
        let known = keys(of: name)
        if known.contains(key) { return .known }
        if !known.isEmpty { return .changed(from: known) }
        return trust == .first ? .learned : .unknown(names: names(of: key))
    }

    /// Judges the key of someone who dialled in. The key decides; the label is its own claim, which is bound to the key that came with
    /// it first.
    public func verdict(onCaller key: KeyFingerprint, claiming label: String, _ trust: PeerTrust) -> PeerVerdict {
        if case .pinned(let keys) = trust { return keys.contains(key) ? .known : .foreign }
        let name = PeerName.label(label)
        let bound = keys(of: name)
        if !bound.isEmpty, !bound.contains(key) { return .changed(from: bound) }
        let names = names(of: key)
        // Who was dialled once is not let in for that.
        let isCaller = names.contains { if case .label = $0 { true } else { false } }
        if isCaller { return .known }
        return trust == .first ? .learned : .unknown(names: names)
    }
}
