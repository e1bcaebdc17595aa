extension PeerName {
    /// Whoever gives itself a label, as one whose services are dialled: `h1.local` for `h1`, `anna@h1.local` for `anna@h1`.
    ///
    /// A claim, as the label is. Nil where the label makes no host's name: it must not pass for a service.
    public static func host(labelled label: String) -> PeerName? {
        // A backslash would escape the dot.
        guard !label.utf8.contains(UInt8(ascii: "\\")), !label.unicodeScalars.contains(where: \.isBlank),
            let name = PeerName("\(label).local"), case .host = name,
            PeerName(name.description) == name
        else { return nil }
        return name
    }

    /// The names by which whoever gives itself a label is known once it was paired with: as a caller, and as one whose services are dialled.
    public static func paired(_ label: String) -> [PeerName] {
        [.label(label)] + [PeerName.host(labelled: label)].compactMap(\.self)
    }

    var isHost: Bool { if case .host = self { true } else { false } }
}

extension KnownPeers {
    /// The first of the names of a label that has another key; nil where a key can be paired.
    public func conflict(pairing key: KeyFingerprint, labelled label: String) -> Peer? {
        for name in PeerName.paired(label) {
            let keys = keys(of: name)
            if let other = keys.first, !keys.contains(key) { return Peer(name, other) }
        }
        return nil
    }

    /// Makes a key known by all names of a label, so that it is let in when it dials in, and when its services are dialled.
    /// - Parameters:
    ///   - key: the key.
    ///   - label: what the machine is called.
    ///   - day: when, as `2026-11-23`.
    /// - Returns: as `conflict(pairing:labelled:)`; nothing is added then.
    public mutating func pair(
        _ key: KeyFingerprint, labelled label: String, on day: String? = KnownPeers.today()
    ) -> Peer? {
        if let conflict = conflict(pairing: key, labelled: label) { return conflict }
        for name in PeerName.paired(label) { add(Peer(name, key), name.isHost ? Pairing(on: day) : nil) }
        return nil
    }
}
