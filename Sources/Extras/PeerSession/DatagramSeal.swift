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

/// Opens the datagrams that come to this side: each one once, of the newest 1024.
package struct DatagramOpener: DatagramOpening {
    private let key: SymmetricKey
    private let token: UInt64
    private var window = ReplayWindow()

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
        // Only what has the key counts as having come.
        guard window.admits(number),
            let box = try? ChaChaPoly.SealedBox(
                nonce: .init(number: number), ciphertext: Array(sealed.dropLast(DatagramSeal.tagLength)),
                tag: Array(sealed.suffix(DatagramSeal.tagLength))),
            let content = try? ChaChaPoly.open(box, using: key, authenticating: header)
        else { return nil }
        window.insert(number)
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

/// Which of the newest 1024 numbers have come. A number counts once, and one that is too old to say counts as having come (RFC 4303 §3.4.3).
package struct ReplayWindow: Hashable, Sendable {
    /// How many numbers are distinguished.
    package static let size: UInt64 = 1024

    private var newest: UInt64 = 0
    /// A bit for each number, at its place modulo `size`.
    private var bits = [UInt64](repeating: 0, count: Int(size / 64))

    package init() {}

    /// Whether a number has not come yet. Zero is no number.
    package func admits(_ number: UInt64) -> Bool {
        if number > newest { return true }
        guard number > 0, newest - number < Self.size else { return false }
        return bits[word(of: number)] & bit(of: number) == 0
    }

    /// Records a number that was admitted.
    package mutating func insert(_ number: UInt64) {
        guard admits(number) else { return }
        if number > newest {
            if number - newest >= Self.size {
                for index in bits.indices { bits[index] = 0 }
            } else {
                // They take the places of numbers that are too old now.
                for number in newest + 1...number { bits[word(of: number)] &= ~bit(of: number) }
            }
            newest = number
        }
        bits[word(of: number)] |= bit(of: number)
    }

    private func word(of number: UInt64) -> Int { Int(number % Self.size / 64) }

    private func bit(of number: UInt64) -> UInt64 { 1 << (number % 64) }
}
