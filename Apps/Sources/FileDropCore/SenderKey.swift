import Crypto

/// Who sends: a key of the user's own, made on first use. It lets a receiver know which folders this sender's transfers made,
/// and lets no one else say so who has only listened.
public struct SenderKey: Sendable {
    /// Bytes of a public key.
    public static let publicLength = 32
    static let signatureLength = 64
    /// Bytes of what is signed for a receiver.
    public static let challengeLength = 32
    private static let fileName = "sender.key"
    private static let purpose = Array("filedrop/2 sender\n".utf8)

    private let key: Curve25519.Signing.PrivateKey

    /// A key for one transfer only: nothing of it can be gone on with.
    public init() { key = Curve25519.Signing.PrivateKey() }

    /// The user's.
    /// - Throws: when it can be neither read nor made.
    public init(in state: StateFolder) throws(StateFolder.Failure) {
        if state.read(Self.fileName, atMost: 33) == nil {
            // Another process may have been first: then that one is ours, too.
            _ = state.write(Array(Curve25519.Signing.PrivateKey().rawRepresentation), to: Self.fileName, isNew: true)
        }
        guard let bytes = state.read(Self.fileName, atMost: 33),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw StateFolder.Failure(description: "\(Self.fileName) cannot be read, or is no key") }
        self.key = key
    }

    /// What a receiver knows it by.
    public var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// The mark of a place on this disk.
    public func origin(of place: String) -> Origin {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("filedrop/2 origin\n\(place)".utf8), using: SymmetricKey(data: key.rawRepresentation))
        return Origin(Array(code).prefix(Origin.length)) ?? Origin()
    }

    /// The answer to a receiver.
    /// - Parameter address: of the receiver, as the sender dialled it: what is signed for one is no use at another.
    /// - Returns: nil when it cannot be signed.
    public func sign(_ challenge: [UInt8], at address: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: Self.purpose + challenge + address)).map { Array($0) }
    }

    /// Whether a sender has the key that it names.
    public static func isGenuine(
        _ signature: [UInt8], of publicKey: [UInt8], for challenge: [UInt8], at address: [UInt8]
    ) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else { return false }
        return key.isValidSignature(signature, for: purpose + challenge + address)
    }

    /// What a receiver asks a sender to sign.
    public static func newChallenge() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<challengeLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
