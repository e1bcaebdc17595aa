package import DNSMessage

/// A key that this machine and a DNS server share (RFC 8945).
///
/// Its secret never appears in a description.
public struct TSIGKey: Hashable, Sendable {
    /// How signatures are made (RFC 8945 §6).
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// The one that every server has.
        case sha256 = "hmac-sha256"
        case sha384 = "hmac-sha384"
        case sha512 = "hmac-sha512"
    }

    /// The key's name, as the server knows it.
    package let name: DomainName
    /// How signatures are made.
    public let algorithm: Algorithm
    /// The secret.
    package let secret: [UInt8]

    /// A key of these parts.
    package init(name: DomainName, algorithm: Algorithm, secret: [UInt8]) {
        self.name = name
        self.algorithm = algorithm
        self.secret = secret
    }
}

extension TSIGKey: CustomStringConvertible {
    /// Name and algorithm; safe for a terminal.
    public var description: String { "\(name) (\(algorithm.rawValue))" }
}

extension TSIGKey: CustomReflectable {
    /// Without the secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.description, "algorithm": algorithm.rawValue])
    }
}
