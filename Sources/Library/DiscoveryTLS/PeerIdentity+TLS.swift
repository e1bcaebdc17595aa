#if TLS
internal import Crypto
internal import DiscoverySystem
internal import Foundation
public import PeerIdentity

extension HashedName {
    /// HMAC with SHA-256, of swift-crypto.
    public static let hmac: HMAC = { key, message in
        Array(Crypto.HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }
}

extension KnownPeersFile {
    /// The same file, with hashed names found and written.
    public var withHashes: KnownPeersFile {
        var file = self
        file.hmac = HashedName.hmac
        return file
    }
}

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

extension PeerTrust {
    /// What the configuration of this machine or user says, the file `trust` of docs/identity.md; `known` where it says nothing.
    /// - Throws: where the file cannot be read, makes no sense, or others may write it.
    public static func configured() throws(TrustFile.Failure) -> PeerTrust {
        try TrustFile.trust(in: Environment.configurationDirectories) ?? .known
    }
}
#endif
