import Crypto

/// The SHA-256 of a stream of bytes.
public struct Checksum: Sendable {
    private var hash = SHA256()

    /// The checksum of no bytes.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }) == nil {
            hash.update(data: Array(bytes))
        }
    }

    /// The digest's 32 bytes.
    public var digest: [UInt8] { Array(hash.finalize()) }

    /// The digest in the form that people compare.
    public static func text(_ digest: [UInt8]) -> String {
        digest.map { byte in
            let text = String(byte, radix: 16)
            return text.count < 2 ? "0" + text : text
        }.joined()
    }
}
