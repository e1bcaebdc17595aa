import Crypto

/// Identifies a sender: a key of the user's, created on first use. It lets a receiver recognise the folders that this sender's transfers
/// made, and keeps eavesdroppers from impersonating the sender.
public struct SenderKey: Sendable {
    /// The length of a public key in bytes.
    public static let publicLength = 32
    static let signatureLength = 64
    /// The length of a receiver's challenge in bytes.
    public static let challengeLength = 32
    private static let fileName = "sender.key"
    private static let purpose = Array("filedrop/2 sender\n".utf8)

    private let key: Curve25519.Signing.PrivateKey

    /// A key for a single transfer, which cannot be resumed.
    public init() { key = Curve25519.Signing.PrivateKey() }

    /// The user's key.
    /// - Throws: if it can be neither read nor created.
    public init(in state: StateFolder) throws(StateFolder.Failure) {
        if state.read(Self.fileName, atMost: 33) == nil {
            // If another process was first, its key is ours too.
            _ = state.write(Array(Curve25519.Signing.PrivateKey().rawRepresentation), to: Self.fileName, isNew: true)
        }
        guard let bytes = state.read(Self.fileName, atMost: 33),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw StateFolder.Failure(description: "\(Self.fileName) cannot be read, or is no key") }
        self.key = key
    }

    /// The key by which receivers know the sender.
    public var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// The mark of a place on this disk.
    public func origin(of place: String) -> Origin {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("filedrop/2 origin\n\(place)".utf8), using: SymmetricKey(data: key.rawRepresentation))
        return Origin(Array(code).prefix(Origin.length)) ?? Origin()
    }

    /// Signs a receiver's challenge.
    /// - Parameter address: the receiver's address, as dialled; makes the signature useless to other receivers.
    /// - Returns: nil if signing fails.
    public func sign(_ challenge: [UInt8], at address: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: Self.purpose + challenge + address)).map { Array($0) }
    }

    /// Whether a sender owns the key that it names.
    public static func isGenuine(
        _ signature: [UInt8], of publicKey: [UInt8], for challenge: [UInt8], at address: [UInt8]
    ) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else { return false }
        return key.isValidSignature(signature, for: purpose + challenge + address)
    }

    /// A new challenge for a sender to sign.
    public static func newChallenge() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<challengeLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
