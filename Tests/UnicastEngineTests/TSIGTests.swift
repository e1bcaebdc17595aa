import DNSMessage
import Testing

@testable import UnicastEngine

@Suite("Signatures (RFC 8945), beside dnspython's")
struct TSIGTests {
    static let now: UInt64 = 1_795_303_600

    struct Vector: Sendable, CustomTestStringConvertible {
        let algorithm: TSIGKey.Algorithm
        let plain, signed, answer, late: [UInt8]
        var testDescription: String { algorithm.rawValue }

        /// The name is `Pub.home…` where it was signed: case is not signed (RFC 8945 §4.3.3).
        func key(_ secret: String = "secret-secret-secret-secret-1234", name: String = "pub") throws -> TSIGKey {
            let labels = [name, "home", "example", "org"].map { Array($0.utf8) }
            return TSIGKey(name: try DomainName(labels: labels), algorithm: algorithm, secret: Array(secret.utf8))
        }

        func signer(_ key: TSIGKey? = nil) throws -> TSIG {
            try TSIG(signing: plain, with: try key ?? self.key(), at: now)
        }
    }

    static let vectors = [
        Vector(
            algorithm: .sha256, plain: bytes(TSIGVectors.plain256), signed: bytes(TSIGVectors.signed256),
            answer: bytes(TSIGVectors.answer256), late: bytes(TSIGVectors.late256)),
        Vector(
            algorithm: .sha384, plain: bytes(TSIGVectors.plain384), signed: bytes(TSIGVectors.signed384),
            answer: bytes(TSIGVectors.answer384), late: bytes(TSIGVectors.late384)),
        Vector(
            algorithm: .sha512, plain: bytes(TSIGVectors.plain512), signed: bytes(TSIGVectors.signed512),
            answer: bytes(TSIGVectors.answer512), late: bytes(TSIGVectors.late512)),
    ]

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    @Test("A request is signed as dnspython signs it", arguments: vectors)
    func request(_ vector: Vector) throws {
        let mine = try #require(try SignedMessage(try vector.signer().request))
        let theirs = try #require(try SignedMessage(vector.signed))
        #expect(mine.signature == theirs.signature)
        #expect(mine.key == theirs.key)
        #expect(mine.unsigned == vector.plain && theirs.unsigned == vector.plain)
        // Key names are written in full here.
        #expect(try Message(reading: vector.signer().request) == Message(reading: vector.signed))
    }

    @Test("An answer is trusted when its signature is the server's", arguments: vectors)
    func answer(_ vector: Vector) throws {
        let signer = try vector.signer()
        #expect(signer.verify(vector.answer, at: Self.now) == .trusted(error: 0, serverTime: nil))
        #expect(signer.verify(vector.answer, at: Self.now + 300) == .trusted(error: 0, serverTime: nil))
        #expect(signer.verify(vector.answer, at: Self.now + 301) == .forged)
        #expect(try vector.signer(vector.key("another secret")).verify(vector.answer, at: Self.now) == .forged)
        #expect(try vector.signer(vector.key(name: "other")).verify(vector.answer, at: Self.now) == .forged)
    }

    @Test("A wrong clock is told with the server's time, though ours is far from it", arguments: vectors)
    func late(_ vector: Vector) throws {
        let verdict = TSIG.Verdict.trusted(error: ResponseCode.badTime, serverTime: Self.now + 600)
        #expect(try vector.signer().verify(vector.late, at: Self.now) == verdict)
        #expect(try vector.signer().verify(vector.late, at: Self.now + 900) == verdict)
    }

    @Test("No changed byte passes, and no trap: each bit of an answer", arguments: vectors)
    func changed(_ vector: Vector) throws {
        let signer = try vector.signer()
        // The record's TTL, its class' first bit and the case of its names are no part of what is signed.
        var passed = 0
        for place in vector.answer.indices {
            for bit in 0..<8 {
                var answer = vector.answer
                answer[place] ^= 1 << bit
                if case .trusted = signer.verify(answer, at: Self.now) { passed += 1 }
            }
            _ = signer.verify(Array(vector.answer[..<place]), at: Self.now)
        }
        #expect(passed < 150, "\(passed)")
    }

    @Test("Shortened, missing and misplaced signatures are no signatures")
    func notSigned() throws {
        let vector = try #require(Self.vectors.first)
        let signer = try vector.signer()
        var message = try Message(reading: vector.answer)
        var record = try #require(message.additionals.last)
        guard case .tsig(var signature) = record.data else { throw MessageError.misplacedTSIG }
        func verdict() throws -> TSIG.Verdict {
            record.data = .tsig(signature)
            message.additionals = [record]
            return signer.verify(try message.written(compression: .unicast), at: Self.now)
        }
        let mac = signature.mac
        signature.mac = Array(mac.prefix(16))
        #expect(try verdict() == .forged)
        (signature.mac, signature.error) = ([], ResponseCode.badKey)
        #expect(try verdict() == .unsigned(error: ResponseCode.badKey))
        (signature.mac, signature.error) = (mac, 0)
        #expect(try verdict() == .trusted(error: 0, serverTime: nil))
        // The request itself, sent back as an answer.
        #expect(signer.verify(signer.request, at: Self.now) == .unsigned(error: nil))
        message.additionals = []
        #expect(signer.verify(try message.written(compression: .unicast), at: Self.now) == .unsigned(error: nil))
        message.additionals = [record, ResourceRecord(.root, .a, .a(1), ttl: 0)]
        #expect(signer.verify(try message.written(compression: .unicast), at: Self.now) == .forged)
    }
}
