import Crypto

/// SHA-256 of what passes.
public struct Checksum: Sendable {
    private var hash = SHA256()

    /// Of nothing.
    public init() {}

    /// Takes in bytes.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }) == nil {
            hash.update(data: Array(bytes))
        }
    }

    /// The 32 bytes.
    public var digest: [UInt8] { Array(hash.finalize()) }

    /// The digest as people compare it.
    public static func text(_ digest: [UInt8]) -> String {
        digest.map { byte in
            let text = String(byte, radix: 16)
            return text.count < 2 ? "0" + text : text
        }.joined()
    }
}
