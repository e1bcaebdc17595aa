/// Where one side of a connection takes datagrams, as announced in its greeting.
package struct DatagramOffer: Hashable, Sendable {
    /// The port, at the connection's own address.
    package let port: UInt16
    /// The prefix of every datagram to this side: random for each connection, and known only to the other side.
    package let token: UInt64
    /// What datagrams to this side are sealed with; nil without TLS.
    package let key: DatagramKey?

    package init(port: UInt16, token: UInt64, key: DatagramKey? = nil) {
        (self.port, self.token, self.key) = (port, token, key)
    }
}

/// A UDP datagram: eight bytes of token, eight of number, both big endian; a byte of kind, 0 for a probe or 1 for a message; the message. With
/// TLS kind and message are sealed (`DatagramSeal`).
package struct SessionDatagram: Hashable, Sendable {
    /// The maximum length, so that every network carries it whole: 1280 less 40 for IPv6 and 8 for UDP (RFC 8200 §5).
    package static let maximumLength = 1232
    /// The maximum length of a message in a datagram.
    package static let maximumMessageLength = maximumLength - headerLength
    /// The length of token and number.
    static let addressLength = 16
    private static let headerLength = addressLength + 1

    /// The receiving side's token.
    package let token: UInt64
    /// Increases with every datagram, starting from 1.
    package let number: UInt64
    /// Nil for a probe, which only tests whether datagrams arrive.
    package let message: [UInt8]?

    package init(token: UInt64, number: UInt64, message: [UInt8]?) {
        (self.token, self.number, self.message) = (token, number, message)
    }

    /// Nil if the bytes are not a session's datagram.
    package init?(_ bytes: some RandomAccessCollection<UInt8>) {
        guard (Self.headerLength...Self.maximumLength).contains(bytes.count) else { return nil }
        token = UInt64(bigEndianBytes: bytes.prefix(8))
        number = UInt64(bigEndianBytes: bytes.dropFirst(8).prefix(8))
        let rest = bytes.dropFirst(Self.addressLength)
        switch rest.first {
        case 0 where rest.count == 1: message = nil
        case 1: message = Array(rest.dropFirst())
        default: return nil
        }
    }

    /// The encoded datagram.
    package var bytes: [UInt8] {
        token.bigEndianBytes + number.bigEndianBytes + (message.map { [1] + $0 } ?? [0])
    }
}

extension UInt64 {
    /// Uses the last eight bytes, most significant first.
    init(bigEndianBytes bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The eight bytes, most significant first.
    var bigEndianBytes: [UInt8] { stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) } }

    /// Parses exactly 16 hexadecimal digits; nil for anything else.
    init?(hexadecimal text: String) {
        guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit), let value = UInt64(text, radix: 16) else {
            return nil
        }
        self = value
    }

    /// 16 hexadecimal digits.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A key for the datagrams to one side: 32 random bytes, drawn for each connection, and said over TLS only.
package struct DatagramKey: Hashable, Sendable {
    /// The length in bytes (RFC 8439 §2.8).
    package static let length = 32

    package let bytes: [UInt8]

    /// Nil for another number of bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}

extension DatagramKey: CustomStringConvertible {
    /// Never the key.
    package var description: String { "a key" }
}
