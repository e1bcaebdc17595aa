package import DNSMessage

/// A key that this machine shares with a DNS server (RFC 8945).
///
/// Its secret never appears in a description.
public struct TSIGKey: Hashable, Sendable {
    /// An algorithm for signatures (RFC 8945 §6).
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// HMAC-SHA-256, which every server supports.
        case sha256 = "hmac-sha256"
        /// HMAC-SHA-384.
        case sha384 = "hmac-sha384"
        /// HMAC-SHA-512.
        case sha512 = "hmac-sha512"
    }

    /// The key's name, by which the server knows it.
    package let name: DomainName
    /// The algorithm for signatures.
    public let algorithm: Algorithm
    /// The secret.
    package let secret: [UInt8]

    /// Creates a key.
    package init(name: DomainName, algorithm: Algorithm, secret: [UInt8]) {
        self.name = name
        self.algorithm = algorithm
        self.secret = secret
    }
}

extension TSIGKey: CustomStringConvertible {
    /// The key's name and algorithm; safe for a terminal.
    public var description: String { "\(name) (\(algorithm.rawValue))" }
}

extension TSIGKey: CustomReflectable {
    /// A mirror without the secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.description, "algorithm": algorithm.rawValue])
    }
}
