import FourInARow
import Testing

/// Packets: an eight-byte length and JSON.
@Suite("Four in a row: packets")
struct PacketTests {
    private func framed(_ body: String) -> [UInt8] {
        [0, 0, 0, 0, 0, 0, UInt8(body.utf8.count >> 8), UInt8(body.utf8.count & 0xFF)] + Array(body.utf8)
    }

    @Test("what is sent")
    func wire() {
        #expect(Packet.column(3).bytes == framed(#"{"type":"column","column":3}"#))
        #expect(Packet.start().bytes == framed(#"{"type":"start"}"#))
        #expect(Packet.start(name: "h2").bytes == framed(#"{"type":"start","name":"h2"}"#))
        #expect(Packet.end.bytes == framed(#"{"type":"end"}"#))
    }

    @Test("packets are read whatever the pieces they come in")
    func pieces() throws {
        let packets: [Packet] = [.start(), .start(name: "a b"), .column(0), .column(6), .end]
        let bytes = packets.flatMap(\.bytes)
        for size in [1, 2, 7, 8, 9, 30, bytes.count] {
            var decoder = PacketDecoder()
            var read: [Packet] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                read += try decoder.received(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(read == packets)
        }
    }

    @Test("members in another order and members that are not known are no harm")
    func tolerance() throws {
        var decoder = PacketDecoder()
        #expect(try decoder.received(framed(#"{"column": 2, "x": [1, {}], "type": "column"}"#)) == [.column(2)])
    }

    @Test("an invalid name, or one longer than a service's may be, is ignored; the packet is accepted")
    func names() throws {
        for name in ["3", #""""#, "null", "\"\(String(repeating: "x", count: 64))\""] {
            var decoder = PacketDecoder()
            #expect(try decoder.received(framed(#"{"type":"start","name":\#(name)}"#)) == [.start()])
        }
    }

    @Test(
        "invalid packets are refused",
        arguments: [
            "", "{}", "[]", "3", "null", #"{"type":"column"}"#, #"{"type":"column","column":"3"}"#,
            #"{"type":"column","column":1.5}"#, #"{"type":"jump"}"#, #"{"type":3}"#, #"{"type":"start""#, "\u{0}",
        ])
    func malformed(_ body: String) {
        var decoder = PacketDecoder()
        #expect(throws: Packet.Malformed.self) { try decoder.received(framed(body)) }
    }

    @Test("a length beyond the limit is refused as soon as it is known, whatever it is")
    func tooLong() {
        for length in [1025, UInt64(Int.max), UInt64.max, 1 << 63] {
            var decoder = PacketDecoder()
            let header = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> UInt64($0)) }
            #expect(throws: Packet.Malformed.self) { try decoder.received(header) }
        }
    }
}
