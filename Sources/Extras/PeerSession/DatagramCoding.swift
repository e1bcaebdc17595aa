/// Writes the datagrams of one side.
package protocol DatagramSealing: Sendable {
    /// The longest message.
    var maximumMessageLength: Int { get }

    /// The datagram's bytes; nil if it cannot be sent.
    mutating func seal(_ datagram: Datagram) -> [UInt8]?
}

/// Reads the datagrams that come to one side.
package protocol DatagramOpening: Sendable {
    /// The datagram; nil if the bytes are none for this side.
    mutating func open(_ bytes: some RandomAccessCollection<UInt8>) -> Datagram?
}

/// Datagrams as they are: without TLS.
package struct PlainSeal: DatagramSealing {
    package var maximumMessageLength: Int { Datagram.maximumMessageLength }

    package init() {}

    package mutating func seal(_ datagram: Datagram) -> [UInt8]? { datagram.bytes }
}

/// Reads datagrams that are not sealed; the token alone says whom they are for.
package struct PlainOpener: DatagramOpening {
    private let token: UInt64

    package init(token: UInt64) { self.token = token }

    package mutating func open(_ bytes: some RandomAccessCollection<UInt8>) -> Datagram? {
        Datagram(bytes).flatMap { $0.token == token ? $0 : nil }
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
