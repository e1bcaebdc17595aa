import PeerSession
import Testing

/// What a connection carries, and what it refuses.
@Suite("Peer session: frames")
struct FrameTests {
    private let limit = PeerSession.maximumMessageLength

    @Test("every frame is read as it was written, whatever the pieces it comes in")
    func roundTrip() throws {
        let greeting = Greeting(id: PeerID(rawValue: 0xAB), name: "Büro 2 🖨\u{1B}")
        let frames: [Frame] = [
            .hello(greeting), .welcome(greeting), .decline(.duplicate), .message([1, 2, 3], .reliable),
            .message([], .unreliable),
            .ping(heard: 0), .ping(heard: .max), .bye, .message([UInt8](repeating: 7, count: limit), .reliable),
        ]
        let bytes = frames.flatMap(\.bytes)
        for size in [1, 3, 1000, bytes.count] {
            var decoder = FrameDecoder()
            var read: [Frame] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                read += try decoder.received(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(read == frames)
        }
    }

    @Test("87 KB are a message, one byte more is refused as soon as it is announced; other frames are short")
    func lengths() {
        var decoder = FrameDecoder()
        let length = UInt32(limit + 2)
        let header = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        #expect(throws: SessionError.self) { try decoder.received(header + [4]) }
        for (header, kind) in [([0, 0, 4, 2], 1), ([0xFF, 0xFF, 0xFF, 0xFF], 4), ([0, 0, 0, 0], 6)]
            as [([UInt8], UInt8)]
        {
            var decoder = FrameDecoder()
            #expect(throws: SessionError.self) { try decoder.received(header + [kind]) }
        }
    }

    @Test(
        "invalid frames are refused",
        arguments: [
            [0, 0, 0, 1, 0], [0, 0, 0, 1, 99], [0, 0, 0, 1, 1], [0, 0, 0, 3, 1, 0x7B, 0x7D], [0, 0, 0, 1, 3],
            [0, 0, 0, 2, 3, 77],
        ] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) {
        var decoder = FrameDecoder()
        #expect(throws: SessionError.self) { try decoder.received(bytes) }
    }

    @Test("ids are 16 hexadecimal digits; names are cut between characters")
    func identities() {
        #expect(PeerID("00000000000000ab") == PeerID(rawValue: 0xAB))
        #expect(PeerID(rawValue: 0xAB).description == "00000000000000ab")
        for text in ["", "ab", "00000000000000xy", "+0000000000000ab", "00000000000000ab0", "０000000000000ab"] {
            #expect(PeerID(text) == nil)
        }
        let name = Greeting(id: PeerID(rawValue: 1), name: String(repeating: "🖨", count: 100)).name
        #expect(name == String(repeating: "🖨", count: 50))
    }
}
