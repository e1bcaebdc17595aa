#if TLS
internal import Crypto
internal import Foundation
#endif

#if TLS
/// Seals the datagrams to the other side with the key that it said over TLS: ChaCha20-Poly1305 (RFC 8439).
///
/// Token and number stay legible, and are authenticated; kind and message are encrypted; 16 bytes of tag follow. The number is the nonce.
package struct DatagramSeal: DatagramSealing {
    /// What sealing adds.
    package static let tagLength = 16

    package var maximumMessageLength: Int { SessionDatagram.maximumMessageLength - Self.tagLength }
    private let key: SymmetricKey
    private var last: UInt64

    /// - Parameter last: the number of the last datagram that was sealed with the key.
    package init(_ key: DatagramKey, after last: UInt64 = 0) {
        self.key = SymmetricKey(data: key.bytes)
        self.last = last
    }

    /// Nil unless the number is greater than all before: two datagrams with one nonce would give themselves away. So after 2⁶⁴ - 1 there is
    /// none.
    package mutating func seal(_ datagram: SessionDatagram) -> [UInt8]? {
        guard datagram.number > last, datagram.message?.count ?? 0 <= maximumMessageLength else { return nil }
        last = datagram.number
        let bytes = datagram.bytes
        let header = bytes.prefix(SessionDatagram.addressLength)
        guard
            let box = try? ChaChaPoly.seal(
                bytes.dropFirst(SessionDatagram.addressLength), using: key, nonce: .init(number: datagram.number),
                authenticating: header)
        else { return nil }
        return Array(header) + box.ciphertext + box.tag
    }
}

/// Opens the datagrams that come to this side: those that are newer than all before, for a session drops the others anyway.
package struct DatagramOpener: DatagramOpening {
    private let key: SymmetricKey
    private let token: UInt64
    private var newest: UInt64 = 0

    package init(_ key: DatagramKey, token: UInt64) {
        self.key = SymmetricKey(data: key.bytes)
        self.token = token
    }

    package mutating func open(_ bytes: some RandomAccessCollection<UInt8>) -> SessionDatagram? {
        let header = Array(bytes.prefix(SessionDatagram.addressLength))
        let sealed = bytes.dropFirst(SessionDatagram.addressLength)
        guard bytes.count <= SessionDatagram.maximumLength, sealed.count > DatagramSeal.tagLength,
            UInt64(bigEndianBytes: header.prefix(8)) == token
        else { return nil }
        let number = UInt64(bigEndianBytes: header.dropFirst(8))
        guard number > newest,
            let box = try? ChaChaPoly.SealedBox(
                nonce: .init(number: number), ciphertext: Array(sealed.dropLast(DatagramSeal.tagLength)),
                tag: Array(sealed.suffix(DatagramSeal.tagLength))),
            let content = try? ChaChaPoly.open(box, using: key, authenticating: header)
        else { return nil }
        // Only what has the key counts as having come.
        newest = number
        return SessionDatagram(header + content)
    }
}

extension DatagramKey {
    /// A new one.
    package static func random() -> DatagramKey? {
        DatagramKey(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
    }
}

extension ChaChaPoly.Nonce {
    /// 96 bits: four bytes of zero, and the number (RFC 8439 §2.8, as RFC 9147 and others count).
    fileprivate init(number: UInt64) throws {
        try self.init(data: [0, 0, 0, 0] + number.bigEndianBytes)
    }
}
#endif
