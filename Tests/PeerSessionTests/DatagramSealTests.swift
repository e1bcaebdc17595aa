#if TLS
import PeerSession
import Testing

/// Sealed datagrams, as values.
@Suite("Peer session: sealed datagrams")
struct DatagramSealTests {
    private let key: DatagramKey
    private let token: UInt64 = 0x0102_0304_0506_0708

    init() throws { key = try #require(DatagramKey(0..<32)) }

    private func sealed(_ number: UInt64, _ message: [UInt8]?, after last: UInt64 = 0) throws -> [UInt8] {
        var seal = DatagramSeal(key, after: last)
        let bytes = seal.seal(SessionDatagram(token: token, number: number, message: message))
        return try #require(bytes)
    }

    @Test("what is sealed is opened as it was; its longest message fits into the smallest IPv6 packet")
    func roundTrip() throws {
        var (seal, opener) = (DatagramSeal(key), DatagramOpener(key, token: token))
        let longest = seal.maximumMessageLength
        #expect(longest == 1199)
        for (number, message) in ([nil, [], [1], [UInt8](repeating: 7, count: longest)] as [[UInt8]?]).enumerated() {
            let datagram = SessionDatagram(token: token, number: UInt64(number + 1), message: message)
            let sealed = seal.seal(datagram)
            let bytes = try #require(sealed)
            #expect(bytes.count == 17 + (message?.count ?? 0) + DatagramSeal.tagLength && bytes.count <= 1232)
            #expect(opener.open(bytes) == datagram)
        }
        #expect(seal.seal(SessionDatagram(token: token, number: 9, message: [UInt8](repeating: 7, count: 1200))) == nil)
    }

    @Test("the bytes are those of RFC 8439 with the number as nonce, token and number authenticated")
    func vector() throws {
        // By Python's cryptography: ChaCha20Poly1305(bytes(range(32))).encrypt(bytes(11) + b"\1", b"\1hello", token + number).
        let bytes = try sealed(1, Array("hello".utf8))
        #expect(bytes.prefix(16) == [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1])
        let sealed: [UInt8] = [
            0x68, 0x34, 0x19, 0xB5, 0x5D, 0x65, 0x1B, 0x69, 0x8B, 0xB5, 0x0A, 0xCE, 0x6A, 0x2D, 0x26, 0x40, 0x5B, 0xEC,
            0xEE, 0x3A, 0xC2, 0x02,
        ]
        #expect(Array(bytes.dropFirst(16)) == sealed)
    }

    @Test("nothing of the message is legible")
    func illegible() throws {
        let text = Array("a tap of the game".utf8)
        #expect(try sealed(1, text).firstRange(of: text) == nil)
    }

    @Test("a nonce is used once: a number that is not greater is not sealed, nor anything after the last one")
    func exhaustion() {
        var seal = DatagramSeal(key, after: .max - 1)
        func seals(_ number: UInt64) -> Bool {
            seal.seal(SessionDatagram(token: token, number: number, message: [1])) != nil
        }
        #expect(!seals(.max - 1))
        #expect(seals(.max))
        for number in [.max, 0, 1] as [UInt64] { #expect(!seals(number)) }
        var path = DatagramPath()
        var young = DatagramSeal(key)
        for _ in 0..<3 {
            let datagram = SessionDatagram(token: token, number: path.next(), message: nil)
            #expect(young.seal(datagram) != nil)
            #expect(young.seal(datagram) == nil)
        }
    }

    @Test("each is opened once, and none after a newer one")
    func replays() throws {
        var opener = DatagramOpener(key, token: token)
        func opens(_ number: UInt64) throws -> Bool { opener.open(try sealed(number, [1])) != nil }
        #expect(try [2, 1, 2, 1, 3].map(opens) == [true, false, false, false, true])
        #expect(try opens(.max))
        #expect(try [.max, .max - 1].map(opens) == [false, false])
    }

    @Test("a forged number, however great, displaces none")
    func forged() throws {
        var opener = DatagramOpener(key, token: token)
        var forged = try sealed(5, [1])
        for index in 8..<16 { forged[index] = 0xFF }
        #expect(opener.open(forged) == nil)
        #expect(opener.open(try sealed(5, [1])) != nil)
    }

    @Test("a datagram that is cut, lengthened or changed in any bit is none; nor is a plain one, nor one of no length")
    func damaged() throws {
        var opener = DatagramOpener(key, token: token)
        let good = try sealed(1, Array("tap".utf8))
        for length in 0..<good.count { #expect(opener.open(good.prefix(length)) == nil) }
        #expect(opener.open(good + [0]) == nil)
        #expect(opener.open(good + [UInt8](repeating: 0, count: 2000)) == nil)
        for bit in 0..<good.count * 8 {
            var bytes = good
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(opener.open(bytes) == nil)
        }
        let plain = SessionDatagram(token: token, number: 1, message: [UInt8](repeating: 1, count: 100))
        #expect(opener.open(plain.bytes) == nil)
        #expect(opener.open(good)?.message == Array("tap".utf8))
    }

    @Test("what another peer sealed, with another key or for another side, is not opened")
    func strangers() throws {
        let other = try #require(DatagramKey(1..<33))
        let bytes = try sealed(1, [1])
        var (wrongKey, wrongToken) = (DatagramOpener(other, token: token), DatagramOpener(key, token: token + 1))
        #expect(wrongKey.open(bytes) == nil)
        #expect(wrongToken.open(bytes) == nil)
        var seal = DatagramSeal(key)
        let sealed = seal.seal(SessionDatagram(token: token + 1, number: 1, message: [1]))
        let elsewhere = try #require(sealed)
        var renamed = elsewhere
        renamed.replaceSubrange(0..<8, with: bytes.prefix(8))
        var opener = DatagramOpener(key, token: token)
        #expect(opener.open(elsewhere) == nil)
        #expect(opener.open(renamed) == nil)
    }

    @Test("keys are 32 bytes, random, and never shown; a greeting has them")
    func keys() throws {
        #expect(DatagramKey(0..<31) == nil && DatagramKey(0..<33) == nil)
        let random = try #require(DatagramKey.random())
        #expect(DatagramKey.random() != random)
        #expect("\(random)" == "a key")
        let offer = DatagramOffer(port: 40_000, token: 1, key: random)
        let hello = Frame.hello(Greeting(id: PeerID(rawValue: 1), name: "x", datagrams: offer))
        var decoder = FrameDecoder()
        #expect(try decoder.received(hello.bytes) == [hello])
        for key in ["1", #""""#, #""AAAA""#, #""!""#] {
            let udp = #"{"port":1,"token":"00000000000000ab","key":\#(key)}"#
            let json = Array(#"{"v":1,"id":"0000000000000001","name":"x","udp":\#(udp)}"#.utf8)
            var decoder = FrameDecoder()
            #expect(throws: SessionError.self, "\(key)") {
                try decoder.received([0, 0, 0, UInt8(json.count + 1), 1] + json)
            }
        }
    }
}
#endif
