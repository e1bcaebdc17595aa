#if Unicast
internal import Crypto
#endif

extension TSIGKey {
    /// The signature of some bytes; nil where the package is built without the trait `Unicast`.
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

    /// Whether a signature is this key's, whole, for these bytes; the time that it takes says nothing about the right one.
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
