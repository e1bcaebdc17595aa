import DiscoveryTLS
import PeerIdentity

/// Who comes to a room for the first time, or is not let in: for the person who keeps it.
enum ChatArrival: Sendable {
    /// The key was not known, and is from now on.
    case new(PeerTLS.Peer)
    case refused(PeerRefusal, from: String)
    /// The caller speaks TLS, the room does not.
    case spokeTLS(from: String)

    /// For people, one line each; safe for a terminal.
    var lines: [String] {
        switch self {
        case .new(let peer): ["\(peer.name.text) is let in, and known from now on: \(peer.key)"]
        case .refused(let refusal, let host):
            ["a caller from \(host) was refused: \(refusal.headline)"] + advice(on: refusal).map { "  \($0)" }
        case .spokeTLS(let host): ["a caller from \(host) was refused: it speaks TLS, and this room is plain"]
        }
    }

    private func advice(on refusal: PeerRefusal) -> [String] {
        switch refusal {
        case .noTLS: ["'lanchat serve --plain' lets in those who speak no TLS, such as nc; everyone can read along."]
        // There is nothing that this side could do.
        case .refusedByPeer: []
        default: refusal.advice
        }
    }
}
