public import PeerIdentity

/// What the files of known keys say about someone who dialled in: what one of them has counts.
public struct Callers: Sendable {
    private let files: [KnownPeers]

    /// The known peers of this user, and those who are known to filedrop alone.
    public init(_ files: [KnownPeers]) { self.files = files }

    /// Whether a key is known under a label.
    public func isKnown(_ key: KeyFingerprint, claiming label: String) -> Bool {
        conflict(key, claiming: label) == nil
            && files.contains { $0.verdict(onCaller: key, claiming: label, .known) == .known }
    }

    /// The other keys under which a file has the label that a caller claims; nil: it is no other's.
    public func conflict(_ key: KeyFingerprint, claiming label: String) -> [KeyFingerprint]? {
        files.lazy.map { $0.keys(of: .label(label)) }.first { !$0.isEmpty && !$0.contains(key) }
    }

    /// The label under which a key is known: the one that the caller claims where it is one of them, else the first that can be read.
    /// - Returns: nil where there is none; the claim alone says nothing.
    public func label(of key: KeyFingerprint, claiming claim: String) -> String? {
        if files.contains(where: { $0.keys(of: .label(claim)).contains(key) }) { return claim }
        for case .label(let label) in files.flatMap({ $0.names(of: key) }) { return label }
        return nil
    }
}
