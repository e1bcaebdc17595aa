#if TLS
internal import Crypto
internal import Foundation
#endif

/// Writes the datagrams to the other side: plain ones, or sealed with the key that it said over TLS, by ChaCha20-Poly1305 (RFC 8439).
///
/// Of sealed ones token and number stay legible, and are authenticated; kind and message are encrypted; 16 bytes of tag follow. The number is
/// the nonce.
package struct DatagramSeal: Sendable {
    /// What sealing adds.
    package static let tagLength = 16

    /// The longest message.
    package var maximumMessageLength: Int { SessionDatagram.maximumMessageLength - (key == nil ? 0 : Self.tagLength) }
    private let key: DatagramKey?
    private var last: UInt64

    /// - Parameters:
    ///   - key: nil for plain datagrams.
    ///   - last: the number of the last datagram that was sealed with the key.
    package init(_ key: DatagramKey?, after last: UInt64 = 0) { (self.key, self.last) = (key, last) }

    /// The datagram's bytes. Where they are sealed, nil unless the number is greater than all before: two datagrams with one nonce would give
    /// themselves away. So after 2⁶⁴ - 1 there is none.
    package mutating func seal(_ datagram: SessionDatagram) -> [UInt8]? {
        let bytes = datagram.bytes
        guard let key else { return bytes }
        guard datagram.number > last, datagram.message?.count ?? 0 <= maximumMessageLength else { return nil }
        last = datagram.number
        let header = Array(bytes.prefix(SessionDatagram.addressLength))
        let content = Array(bytes.dropFirst(SessionDatagram.addressLength))
        return key.seal(content, header, datagram.number).map { header + $0 }
    }
}

/// Opens the datagrams that come to this side. Of sealed ones those that are newer than all before, for a session drops the others anyway.
package struct DatagramOpener: Sendable {
    private let key: DatagramKey?
    private let token: UInt64
    private var newest: UInt64 = 0

    /// - Parameter key: nil for plain datagrams: only the token says which peer they are for.
    package init(_ key: DatagramKey?, token: UInt64) { (self.key, self.token) = (key, token) }

    /// The datagram; nil if the bytes are not one for this side.
    package mutating func open(_ bytes: some RandomAccessCollection<UInt8>) -> SessionDatagram? {
        let header = Array(bytes.prefix(SessionDatagram.addressLength))
        guard bytes.count <= SessionDatagram.maximumLength, UInt64(bigEndianBytes: header.prefix(8)) == token else {
            return nil
        }
        guard let key else { return SessionDatagram(bytes) }
        let number = UInt64(bigEndianBytes: header.dropFirst(8))
        let sealed = Array(bytes.dropFirst(SessionDatagram.addressLength))
        guard number > newest, sealed.count > DatagramSeal.tagLength, let content = key.open(sealed, header, number)
        else { return nil }
        // Only what has the key counts as having come.
        newest = number
        return SessionDatagram(header + content)
    }
}

#if TLS
extension DatagramKey {
    /// A new one.
    package static func random() -> DatagramKey? {
        DatagramKey(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
    }

    /// The content, encrypted, and a tag, which is also for the header.
    fileprivate func seal(_ content: [UInt8], _ header: [UInt8], _ number: UInt64) -> [UInt8]? {
        let box = try? ChaChaPoly.seal(
            content, using: SymmetricKey(data: bytes), nonce: .init(number: number), authenticating: header)
        return box.map { Array($0.ciphertext) + $0.tag }
    }

    /// Nil for what was not sealed with this key, under this number and header.
    fileprivate func open(_ sealed: [UInt8], _ header: [UInt8], _ number: UInt64) -> [UInt8]? {
        guard
            let box = try? ChaChaPoly.SealedBox(
                nonce: .init(number: number), ciphertext: sealed.dropLast(DatagramSeal.tagLength),
                tag: sealed.suffix(DatagramSeal.tagLength)),
            let content = try? ChaChaPoly.open(box, using: SymmetricKey(data: bytes), authenticating: header)
        else { return nil }
        return Array(content)
    }
}

extension ChaChaPoly.Nonce {
    /// 96 bits: four bytes of zero, and the number (RFC 8439 §2.8, as RFC 9147 and others count).
    fileprivate init(number: UInt64) throws {
        try self.init(data: [0, 0, 0, 0] + number.bigEndianBytes)
    }
}
#else
/// Keys are said over TLS only.
extension DatagramKey {
    static func random() -> DatagramKey? { nil }

    fileprivate func seal(_ content: [UInt8], _ header: [UInt8], _ number: UInt64) -> [UInt8]? { nil }

    fileprivate func open(_ sealed: [UInt8], _ header: [UInt8], _ number: UInt64) -> [UInt8]? { nil }
}
#endif
