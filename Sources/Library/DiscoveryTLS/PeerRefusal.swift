#if TLS
internal import DNSSD
public import PeerIdentity

/// Why two machines do not talk with each other.
public enum PeerRefusal: Error, Hashable, Sendable {
    /// The name has another key than it had: it is another machine, or someone in between.
    case changed(PeerName, known: [KeyFingerprint], now: KeyFingerprint)
    /// The key is not known, and nobody said yes.
    case unknown(PeerName, KeyFingerprint)
    /// The key is none of those that are pinned.
    case foreign(PeerName, KeyFingerprint)
    /// No authority that is trusted vouches for the certificate, or it is not for this use.
    case uncertified(PeerName, KeyFingerprint)
    /// The authority vouches for another name.
    case misnamed(PeerName, KeyFingerprint)
    /// The certificate has expired.
    case expired(PeerName, KeyFingerprint)
    /// The certificate makes no sense, or there is none.
    case unreadable(PeerName)
    /// What is known cannot be read or written.
    case unreadableFile(String)
    /// The other side refused this machine's key.
    case refusedByPeer
    /// The other side does not speak TLS 1.3, or ended.
    case noTLS(String)
    /// No handshake within the time.
    case timedOut
}

extension PeerRefusal {
    /// The peer's alert that it does not let this machine in; with TLS 1.3 it may come after the handshake. Nil for another error.
    init?(alert error: any Error) {
        let text = "\(error)"
        let alerts = ["BAD_CERTIFICATE", "CERTIFICATE_", "UNKNOWN_CA", "ACCESS_DENIED"]
        guard alerts.contains(where: { text.contains("ALERT_\($0)") }) else { return nil }
        self = .refusedByPeer
    }

    /// BoringSSL's error within a handshake.
    init(handshake error: any Error) {
        let text = "\(error)"
        let meanings = [
            ("WRONG_VERSION_NUMBER", "it speaks no TLS"), ("HTTP_REQUEST", "it speaks HTTP"),
            ("UNSUPPORTED_PROTOCOL", "it speaks an older TLS"), ("PROTOCOL_VERSION", "it speaks an older TLS"),
            ("PEER_DID_NOT_RETURN_A_CERTIFICATE", "it has no certificate"),
            ("CERTIFICATE_REQUIRED", "it wants another certificate"),
            ("EOF during handshake", "it ended the connection"), ("uncleanShutdown", "it ended the connection"),
        ]
        self = .noTLS(meanings.first { text.contains($0.0) }?.1 ?? "the handshake failed")
    }
}

extension PeerRefusal {
    /// For the first line of a message; safe for a terminal.
    public var headline: String {
        if case .changed(let name, _, _) = self { "THE KEY OF \(name.text) HAS CHANGED" } else { description }
    }

    /// The status with which a program ends because of it, as in sysexits(3): 76 (`EX_PROTOCOL`), 77 (`EX_NOPERM`) or 78 (`EX_CONFIG`).
    public var exitStatus: Int32 {
        switch self {
        case .changed, .unknown, .foreign, .uncertified, .misnamed, .expired, .unreadable, .refusedByPeer: 77
        case .unreadableFile: 78
        case .noTLS, .timedOut: 76
        }
    }

    /// What a person can do with the commands of discoverd, one line each; safe for a terminal.
    public var advice: [String] {
        switch self {
        case .changed(let name, let known, let key):
            [
                "Someone may be in between, or answer in its place; or it has been set up anew. Nothing was sent to it.",
                "It was \(known.first?.description ?? "")",
                "It is  \(key)",
                "Ask there for its key ('discoverd key show'). If it is this one:",
                // A label is a caller's own claim, made at a moment of its choice.
                isLabel(name)
                    ? "  discoverd key forget \(name.quotedForShell), and add the key that you were told"
                    : "  discoverd key forget \(name.quotedForShell) && discoverd key add \(name.quotedForShell) \(key)",
            ]
        case .unknown(let name, let key):
            [
                "Compare it with what 'discoverd key show' prints there; if it is the same:",
                "  discoverd key add \(name.quotedForShell) \(key)",
            ]
        case .refusedByPeer:
            [
                "If it does not know this machine's key, there:",
                "  discoverd key add '@LABEL' KEY, with what 'discoverd key show' prints here",
            ]
        case .foreign, .uncertified, .misnamed, .expired, .unreadable, .unreadableFile, .noTLS, .timedOut: []
        }
    }
}

private func isLabel(_ name: PeerName) -> Bool { if case .label = name { true } else { false } }

extension PeerRefusal: CustomStringConvertible {
    /// For people; safe for a terminal.
    public var description: String {
        switch self {
        case .changed(let name, _, let key): "the key of \(name.text) has changed: it is \(key) now"
        case .unknown(let name, let key): "the key of \(name.text) is not known: \(key)"
        case .foreign(let name, let key): "the key of \(name.text) is not the one that is wanted: \(key)"
        case .uncertified(let name, let key):
            "the certificate of \(name.text) is not one that the certificate authority vouches for: \(key)"
        case .misnamed(let name, let key):
            "the certificate of \(name.text) is for another name: \(key)"
        case .expired(let name, let key): "the certificate of \(name.text) has expired: \(key)"
        case .unreadable(let name): "the certificate of \(name.text) makes no sense"
        case .unreadableFile(let reason): "it cannot be said whose key it is: \(reason.escapedForTerminal)"
        case .refusedByPeer: "the other side does not let this machine in"
        case .noTLS(let reason): "no TLS 1.3 with the other side: \(reason.escapedForTerminal)"
        case .timedOut: "the other side did not finish the handshake in time"
        }
    }
}
#endif
