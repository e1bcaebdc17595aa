#if TLS
internal import Crypto
public import PeerIdentity

extension PairingExchange {
    /// An attempt with the peer of a finished handshake, by SHA-256 and the system's random numbers.
    ///
    ///     var exchange = try PairingExchange(.caller, over: tls, with: peer)
    ///     for step in exchange.start() { … }
    ///
    /// Let the peer in with `PeerTrust.strangers`, and store its key (`KnownPeers.pair(_:labelled:)`) where the outcome is `agreed`.
    /// - Throws: `Failure.ownKey`.
    public init(_ role: Role, over tls: PeerTLS, with peer: PeerTLS.Peer) throws(Failure) {
        try self.init(role, own: tls.identity.fingerprint, peer: peer.key, digest: Self.sha256)
    }

    /// SHA-256.
    @Sendable public static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
#endif
