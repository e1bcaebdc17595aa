import Crypto

/// Marks the places on this disk that files are sent from: a secret of the user's, made on first use.
public struct OriginKey: Sendable {
    private static let fileName = "sender.key"
    private static let length = 32

    private let key: SymmetricKey

    /// A key for a single transfer, which cannot be resumed.
    public init() { key = SymmetricKey(size: .bits256) }

    /// The user's key.
    /// - Throws: if it can be neither read nor created.
    public init(in state: StateFolder) throws(StateFolder.Failure) {
        if state.read(Self.fileName, atMost: Self.length + 1) == nil {
            // If another process was first, its key is ours too.
            let new = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
            _ = state.write(new, to: Self.fileName, isNew: true)
        }
        guard let bytes = state.read(Self.fileName, atMost: Self.length + 1), bytes.count == Self.length else {
            throw StateFolder.Failure(description: "\(Self.fileName) cannot be read, or is no key")
        }
        key = SymmetricKey(data: bytes)
    }

    /// The mark of a place on this disk.
    public func origin(of place: String) -> Origin {
        let code = HMAC<SHA256>.authenticationCode(for: Array("filedrop/2 origin\n\(place)".utf8), using: key)
        return Origin(Array(code).prefix(Origin.length)) ?? Origin()
    }
}
