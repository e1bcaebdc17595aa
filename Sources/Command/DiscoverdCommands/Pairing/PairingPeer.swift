#if Commands
internal import CommandFrame
internal import DNSSD
internal import PeerIdentity

/// Who is to be paired: what it calls itself, its key, and what is known of both.
struct PairingPeer: Sendable {
    let label: String
    let key: KeyFingerprint
    /// Finds and writes hashed names.
    private let hmac: HashedName.HMAC
    /// Names that the key has, other than those that pairing gives it.
    let otherNames: [PeerName]

    /// For messages; safe for a terminal.
    var name: String { PeerName.label(label).text }
    /// What pairing stores.
    var names: [PeerName] { PeerName.paired(label) }

    /// - Throws: `CommandError` with status 77 where one of its names has another key.
    init(_ link: SecuredConnection, _ hmac: @escaping HashedName.HMAC) async throws {
        guard case .label(let label) = link.peer else {
            throw CommandError(.unreachable, "\(link.peer.text) does not say who it is")
        }
        let key = link.key
        let known = try await Self.apart { try KnownFile.knownPeers.path(hmac).changing { $0 } }
        if let conflict = known.conflict(pairing: key, labelled: label) { throw Self.failure(conflict, key) }
        self.label = label
        self.key = key
        self.hmac = hmac
        let names = PeerName.paired(label)
        otherNames = known.names(of: key).filter { !names.contains($0) }
    }

    /// What the person is asked; safe for a terminal.
    func question(_ code: PairingCode) -> String {
        var lines = ["The key of the other machine is", "  \(key)"]
        if !otherNames.isEmpty {
            let more = otherNames.count > 3 ? ", …" : ""
            lines.append(
                "It is known under another name: \(otherNames.prefix(3).map(\.text).joined(separator: ", "))\(more)")
        }
        // What it says of itself stands alone, below what it has no say in.
        lines += ["", "    \(code)", "", "It calls itself", "  \(name)"]
        return (lines + ["", "Does the other machine show the same code (yes/no)?"])
            .joined(separator: "\n")
    }

    /// Makes the key known.
    func store() async throws {
        let (label, key, hmac) = (label, key, hmac)
        let conflict = try await Self.apart {
            try KnownFile.knownPeers.path(hmac).changing { $0.pair(key, labelled: label) }
        }
        if let conflict { throw Self.failure(conflict, key) }
    }

    private static func failure(_ known: KnownPeers.Peer, _ key: KeyFingerprint) -> CommandError {
        CommandError(
            .notPermitted, "THE KEY OF \(known.name.text) HAS CHANGED",
            advice: [
                "Someone may be in between, or give itself its name; or it has been set up anew. Nothing was stored.",
                "It was \(known.key)",
                "It is  \(key)",
                "If it was set up anew: discoverd known forget \(known.name.quotedForShell), and pair again.",
            ])
    }

    /// Runs what waits for files on a thread of its own.
    private static func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(CommandError) {
                try BlockingThread.start { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
#endif
