public import DNSSD

/// What a TXT record says of its service's key, `tls=1` and `fp=SHA256:…`: a hint, which decides nothing. Who takes a service's name takes
/// its TXT record, too.
public struct KeyHint: Hashable, Sendable {
    /// The key.
    public var key: KeyFingerprint

    /// The hint of a key.
    public init(_ key: KeyFingerprint) { self.key = key }

    /// Reads a record; nil where it names no key.
    public init?(_ record: TXTRecord) {
        guard let key = record.text(for: "fp").flatMap({ KeyFingerprint($0) }) else { return nil }
        self.key = key
    }

    /// Adds it to a record to publish.
    /// - Throws: as `TXTRecord.append(key:text:)`.
    public func add(to record: inout TXTRecord) throws(DiscoveryError) {
        try record.append(key: "tls", text: "1")
        try record.append(key: "fp", text: key.description)
    }

    /// Warns, before it is spoken to, where the hint differs from what is known of a service, or from what is pinned; one line, safe for a
    /// terminal.
    public func warning(of name: PeerName, _ known: KnownPeers, _ trust: PeerTrust = .known) -> String? {
        let (keys, kind) =
            switch trust {
            case .known, .first, .strangers: (known.keys(of: name), "known")
            case .pinned(let keys): (Array(keys), "wanted")
            // A key says nothing of its certificate.
            case .authority: ([], "known")
            }
        guard !keys.isEmpty, !keys.contains(key) else { return nil }
        return "\(name.text) announces another key than the one that is \(kind), \(key): "
            + "it will be refused if it has it"
    }
}
