internal import DNSSD
internal import DiscoveryJSON

/// The protocol's packets: an eight-byte big-endian length, and JSON of that length.
package enum Packet: Hashable, Sendable {
    /// `{"type":"start"}`: I am ready; the game begins when both sides are. As a guest's first packet it includes the guest's name.
    case start(name: String? = nil)
    /// `{"type":"column","column":3}`: I drop a disc into this column, 0 to 6.
    case column(Int)
    /// `{"type":"end"}`: I am leaving.
    case end

    /// The received bytes are not a packet.
    package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        package let description: String
    }

    /// The maximum length of a body in bytes; leaves room for unknown members.
    package static let maximumLength = 1024

    /// The encoded packet.
    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { object in
            switch self {
            case .start(let name):
                object.member("type", "start")
                if let name { object.member("name", name) }
            case .column(let column):
                object.member("type", "column")
                object.member("column", column)
            case .end: object.member("type", "end")
            }
        }
        let length = UInt64(json.bytes.count)
        return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) } + json.bytes
    }

    /// Decodes a body. Ignores unknown members.
    package init(body: [UInt8]) throws(Malformed) {
        let value: JSONValue
        do {
            value = try JSONReader.read(body)
        } catch {
            throw Malformed(description: "a packet is no JSON")
        }
        switch value["type"]?.string {
        case "start":
            let name = value["name"]?.string
            // At most as long as a service's name.
            self = .start(name: name.flatMap { (1...ServiceName.maximumLength).contains($0.utf8.count) ? $0 : nil })
        case "end": self = .end
        case "column":
            guard let column = value["column"]?.integer else { throw Malformed(description: "a move without a column") }
            self = .column(column)
        default: throw Malformed(description: "a packet of an unknown type")
        }
    }
}

/// Splits a byte stream into packets. Buffers at most one packet of maximum length.
package struct PacketDecoder: Sendable {
    private static let headerLength = 8
    private var pending: [UInt8] = []

    package init() {}

    /// Takes bytes from the stream.
    /// - Returns: the packets that are now complete.
    /// - Throws: for an invalid length or body; the stream is unreadable from there on.
    package mutating func received(_ bytes: some Sequence<UInt8>) throws(Packet.Malformed) -> [Packet] {
        pending.append(contentsOf: bytes)
        var packets: [Packet] = []
        while pending.count >= Self.headerLength {
            let length = pending.prefix(Self.headerLength).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length <= Packet.maximumLength else {
                throw Packet.Malformed(description: "a packet of \(length) bytes: \(Packet.maximumLength) at most")
            }
            let end = Self.headerLength + Int(length)
            guard pending.count >= end else { break }
            packets.append(try Packet(body: Array(pending[Self.headerLength..<end])))
            pending.removeFirst(end)
        }
        return packets
    }
}
