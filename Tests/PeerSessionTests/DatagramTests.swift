import PeerSession
import Testing

/// Datagrams, and the tracking of whether they arrive, as values.
@Suite("Peer session: datagrams")
struct DatagramTests {
    @Test("a datagram is read as it was written; its longest message fits into the smallest IPv6 packet")
    func roundTrip() {
        for message in [nil, [], [1], [UInt8](repeating: 7, count: 1215)] as [[UInt8]?] {
            let datagram = SessionDatagram(token: 0x0102_0304_0506_0708, number: .max, message: message)
            #expect(SessionDatagram(datagram.bytes) == datagram)
            #expect(datagram.bytes.starts(with: 1...8))
            #expect(datagram.bytes.count <= 1232)
        }
        #expect(SessionDatagram.maximumMessageLength == 1215)
    }

    @Test("invalid datagrams are rejected: too short, too long, of another kind, a probe with content")
    func malformed() {
        let header = [UInt8](repeating: 0, count: 16)
        for rest in [[], [2], [0, 0], [255, 1], [1] + [UInt8](repeating: 0, count: 1216)] as [[UInt8]] {
            #expect(SessionDatagram(header + rest) == nil)
        }
        #expect(SessionDatagram([]) == nil)
        #expect(SessionDatagram(header + [1])?.message == [])
    }

    @Test("without a key a datagram goes as it is, and only its token says whose it is")
    func plain() {
        let datagram = SessionDatagram(token: 5, number: 1, message: [1])
        var seal = DatagramSeal(nil)
        #expect(seal.maximumMessageLength == SessionDatagram.maximumMessageLength)
        #expect(seal.seal(datagram) == datagram.bytes)
        var (own, other) = (DatagramOpener(nil, token: 5), DatagramOpener(nil, token: 6))
        #expect(own.open(datagram.bytes) == datagram)
        #expect(other.open(datagram.bytes) == nil)
    }

    @Test("a greeting says where datagrams go; one that does not is as before; a bad one is refused")
    func greetings() throws {
        let offer = DatagramOffer(port: 40_000, token: 0xAB)
        for greeting in [
            Greeting(id: PeerID(rawValue: 1), name: "x", to: PeerID(rawValue: 2), datagrams: offer),
            Greeting(id: PeerID(rawValue: 1), name: "x"),
        ] {
            var decoder = FrameDecoder()
            #expect(try decoder.received(Frame.hello(greeting).bytes) == [.hello(greeting)])
        }
        let token = #""token":"00000000000000ab""#
        for udp in [
            "true", "{}", #"{"port":1}"#, "{\(token)}", #"{"port":0,\#(token)}"#, #"{"port":65536,\#(token)}"#,
            #"{"port":1,"token":"ab"}"#, #"{"port":"1",\#(token)}"#,
        ] {
            let json = Array(#"{"v":1,"id":"0000000000000001","name":"x","udp":\#(udp)}"#.utf8)
            var decoder = FrameDecoder()
            #expect(throws: SessionError.self, "\(udp)") {
                try decoder.received([0, 0, 0, UInt8(json.count + 1), 1] + json)
            }
        }
    }

    @Test("older datagrams are dropped")
    func order() {
        var path = DatagramPath()
        let numbers: [UInt64] = [1, 5, 5, 4, 1, 0, 6]
        #expect(numbers.filter { path.arrived($0) } == [1, 5, 6])
        #expect(path.heard == 6)
    }

    @Test("datagrams work when the other side confirms one, until three pings confirm nothing new")
    func confirmation() {
        var path = DatagramPath()
        path.told(0)
        #expect(!path.works)
        let first = path.next()
        path.told(first + 1)
        #expect(!path.works, "it confirms what was not sent")
        path.told(first)
        #expect(path.works)
        for _ in 0..<2 {
            path.told(first)
            #expect(path.works)
        }
        path.told(first)
        #expect(!path.works)
        path.told(path.next())
        #expect(path.works)
    }
}
