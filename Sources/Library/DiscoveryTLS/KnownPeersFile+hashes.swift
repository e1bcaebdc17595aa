#if TLS
internal import Crypto
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
#endif
