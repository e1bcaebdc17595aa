import CommandFrame
import DiscoveryTLS
import FileDropCore
import PeerIdentity

/// The beginning of the framed mode: both sides say whether they know each other's key. Unless both do, both make out the same code,
/// which a person compares.
struct Introduction: Sendable {
    let peer: PeerTLS.Peer
    /// Whether this side knows the other.
    let isKnown: Bool
    /// Nil where both know each other.
    let code: PairingCode?

    /// - Parameters:
    ///   - send: sends a message to the other side.
    ///   - next: waits for a message of the other side.
    init(
        _ peer: PeerTLS.Peer, _ acquaintances: Acquaintances, send: (Message) async throws -> Void,
        next: () async throws -> Message
    ) async throws {
        self.peer = peer
        isKnown = try await acquaintances.isKnown(peer)
        try await send(.acquainted(isKnown))
        guard case .acquainted(let isKnownThere) = try await next() else { throw MessageReader.nonsense }
        if isKnown, isKnownThere {
            code = nil
        } else {
            code = try await acquaintances.code(with: peer) { step in
                try await send(.pairing(step))
            } next: {
                guard case .pairing(let step) = try await next() else { throw MessageReader.nonsense }
                return step
            }
        }
    }
}

/// This side does not go on with the other.
struct Refused: Error {
    /// What the other side is told.
    let told: Reason
    /// What is said here.
    let error: CommandError

    init(_ told: Reason, _ error: CommandError) {
        self.told = told
        self.error = error
    }
}
