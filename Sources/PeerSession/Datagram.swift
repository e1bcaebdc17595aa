/// Where one side of a connection takes datagrams, as its greeting says.
package struct DatagramOffer: Hashable, Sendable {
    /// Its port, at the address that the connection has.
    package let port: UInt16
    /// What each datagram for it begins with: drawn for each connection, and told to nobody but the other side of it.
    package let token: UInt64

    package init(port: UInt16, token: UInt64) {
        self.port = port
        self.token = token
    }
}

/// What goes over UDP: eight bytes of token and eight of number, big endian; then a byte that says what, 0 for a probe, 1 for a
/// message, which follows.
package struct Datagram: Hashable, Sendable {
    /// The longest, so that every network carries it whole: 1280 less 40 of IPv6 and 8 of UDP (RFC 8200 §5).
    package static let maximumLength = 1232
    /// The longest message in one.
    package static let maximumMessageLength = maximumLength - headerLength
    private static let headerLength = 17

    /// Of the side that it is for.
    package let token: UInt64
    /// Later ones have greater numbers; the first has 1.
    package let number: UInt64
    /// Nil for a probe, which is sent to see whether it arrives.
    package let message: [UInt8]?

    package init(token: UInt64, number: UInt64, message: [UInt8]?) {
        self.token = token
        self.number = number
        self.message = message
    }

    /// Nil for what is no datagram of a session.
    package init?(_ bytes: some RandomAccessCollection<UInt8>) {
        guard (Self.headerLength...Self.maximumLength).contains(bytes.count) else { return nil }
        token = UInt64(bigEndianBytes: bytes.prefix(8))
        number = UInt64(bigEndianBytes: bytes.dropFirst(8).prefix(8))
        let rest = bytes.dropFirst(16)
        switch rest.first {
        case 0 where rest.count == 1: message = nil
        case 1: message = Array(rest.dropFirst())
        default: return nil
        }
    }

    /// As on the wire.
    package var bytes: [UInt8] {
        token.bigEndianBytes + number.bigEndianBytes + (message.map { [1] + $0 } ?? [0])
    }
}

extension UInt64 {
    /// The last eight bytes, the most significant one first.
    init(bigEndianBytes bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The most significant one first.
    var bigEndianBytes: [UInt8] { stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) } }

    /// From 16 hexadecimal digits; nil for anything else.
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
