import DNSSD

/// What a public key is known by: the SHA-256 of its SubjectPublicKeyInfo (RFC 5280 §4.1), as RFC 7469 §2.4 pins keys.
///
/// A certificate that is made anew for the same key has the same fingerprint.
public struct KeyFingerprint: Hashable, Sendable {
    /// The length of `bytes`.
    public static let length = 32

    /// The digest.
    public let bytes: [UInt8]

    /// - Returns: nil unless there are 32 bytes.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}

extension KeyFingerprint: LosslessStringConvertible {
    private static let prefix = "SHA256:"

    /// Reads `SHA256:` and base64, with or without its padding, as ssh-keygen(1) writes it.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.prefix.utf8.count + 44 else { return nil }
        let digits = text.dropFirst(Self.prefix.count)
        let unpadded = digits.hasSuffix("=") ? digits.dropLast() : digits
        guard let bytes = Base64.decode(unpadded + "=") else { return nil }
        self.init(bytes)
    }

    /// `SHA256:` and base64 without padding; safe for a terminal.
    public var description: String { Self.prefix + Base64.encode(bytes).prefix { $0 != "=" } }
}
