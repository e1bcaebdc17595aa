internal import DNSSD
internal import DiscoveryJSON

/// What the two sides tell each other: eight bytes of length, big endian, and JSON of that length.
package enum Packet: Hashable, Sendable {
    /// `{"type":"start"}`: I am ready for a game; it begins when both are. As the first word of a guest it says who joins.
    case start(name: String? = nil)
    /// `{"type":"column","column":3}`: my disc falls into this column, 0 to 6.
    case column(Int)
    /// `{"type":"end"}`: I leave.
    case end

    /// What came from the other side is no packet.
    package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
        /// For people.
        package let description: String
    }

    /// The longest body that is taken, in bytes: room for members that are not known here.
    package static let maximumLength = 1024

    /// As on the wire.
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

    /// Reads a body. Members that are not known are ignored.
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
            // As long as a service's name may be.
            self = .start(name: name.flatMap { (1...ServiceName.maximumLength).contains($0.utf8.count) ? $0 : nil })
        case "end": self = .end
        case "column":
            guard let column = value["column"]?.integer else { throw Malformed(description: "a move without a column") }
            self = .column(column)
        default: throw Malformed(description: "a packet of an unknown type")
        }
    }
}

/// Cuts a stream of bytes into packets. It never holds more than one packet of the greatest length.
package struct PacketDecoder: Sendable {
    private static let headerLength = 8
    private var pending: [UInt8] = []

    package init() {}

    /// Takes in bytes.
    /// - Returns: the packets that are complete.
    /// - Throws: for a length or a body that is none; the stream cannot be read any further.
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
