#if Unicast
internal import Crypto
#endif

extension TSIGKey {
    /// Returns the signature of some bytes; nil if the package is built without the trait `Unicast`.
    func mac(of bytes: [UInt8]) -> [UInt8]? {
        #if Unicast
        let secret = SymmetricKey(data: secret)
        return switch algorithm {
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: secret))
        case .sha384: Array(HMAC<SHA384>.authenticationCode(for: bytes, using: secret))
        case .sha512: Array(HMAC<SHA512>.authenticationCode(for: bytes, using: secret))
        }
        #else
        return nil
        #endif
    }

    /// Returns whether a signature is this key's complete signature of some bytes. Takes constant time, so that it
    /// reveals nothing about the right one.
    func isMAC(_ mac: [UInt8], of bytes: [UInt8]) -> Bool {
        #if Unicast
        let secret = SymmetricKey(data: secret)
        return switch algorithm {
        case .sha256: HMAC<SHA256>.isValidAuthenticationCode(mac, authenticating: bytes, using: secret)
        case .sha384: HMAC<SHA384>.isValidAuthenticationCode(mac, authenticating: bytes, using: secret)
        case .sha512: HMAC<SHA512>.isValidAuthenticationCode(mac, authenticating: bytes, using: secret)
        }
        #else
        return false
        #endif
    }
}
