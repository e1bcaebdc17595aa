/// Which keys are let in.
public enum PeerTrust: Hashable, Sendable {
    /// Those that are known; a person is asked about others, if there is one.
    case known
    /// Those that are known, and for a name without a key the first that comes.
    case first
    /// Those that are known, and strangers as such: nothing becomes known, and the program judges who is new, as by a pairing code.
    case strangers
    /// These, whatever is known.
    case pinned(Set<KeyFingerprint>)
    /// Those that a certificate authority vouches for, whatever is known.
    case authority(PeerAuthority)
}

/// What is to be done about a peer's key.
public enum PeerVerdict: Hashable, Sendable {
    /// It is let in.
    case known
    /// It is let in, and becomes the name's key.
    case learned
    /// It is let in, and becomes the service's key, for its machine was paired with.
    case vouched(Voucher)
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
        if let verdict = trust.verdict(on: key) { return verdict }
        let known = keys(of: name)
        if known.contains(key) { return .known }
        if !known.isEmpty { return .changed(from: known) }
        let names = names(of: key)
        // A machine that was paired answers for any service that has no key yet, which is bound to it then. No other entry does: whoever wrote it
        // meant the one name.
        if case .service = name, let voucher = voucher(for: key) { return .vouched(voucher) }
        return trust == .first ? .learned : .unknown(names: names)
    }

    /// Judges the key of someone who dialled in. The key decides; the label is its own claim, which is bound to the key that came with
    /// it first.
    public func verdict(onCaller key: KeyFingerprint, claiming label: String, _ trust: PeerTrust) -> PeerVerdict {
        if let verdict = trust.verdict(on: key) { return verdict }
        let name = PeerName.label(label)
        let bound = keys(of: name)
        if !bound.isEmpty, !bound.contains(key) { return .changed(from: bound) }
        // Who was dialled once is not let in for that.
        if isCaller(key) { return .known }
        return trust == .first ? .learned : .unknown(names: names(of: key))
    }
}

extension PeerTrust {
    /// What it says of a key, whatever is known; nil: it depends on that.
    fileprivate func verdict(on key: KeyFingerprint) -> PeerVerdict? {
        switch self {
        case .known, .first, .strangers: nil
        case .pinned(let keys): keys.contains(key) ? .known : .foreign
        // A key says nothing of its certificate.
        case .authority: .foreign
        }
    }
}
