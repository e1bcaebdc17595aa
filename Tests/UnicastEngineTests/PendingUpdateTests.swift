import DNSMessage
import Testing

@testable import UnicastEngine

@Suite("Which answers to an update are believed")
struct PendingUpdateTests {
    static let now = TSIGTests.now
    let zone: DomainName
    let update: Message

    init() throws {
        zone = try DomainName(labels: ["home", "example", "org"].map { Array($0.utf8) })
        update = .update(zone: zone, changes: [.deleting(zone, .txt)])
    }

    private func answer(_ code: UInt16, id: UInt16 = 0x1234, zone: DomainName? = nil) throws -> [UInt8] {
        var message = Message(id: id, flags: [.response, Message.Flags(rawValue: code)])
        message.opcode = Message.updateOpcode
        message.questions = zone.map { [Question($0, .soa)] } ?? []
        return try message.written(compression: .unicast)
    }

    @Test("Without a key: any answer with its id and its zone, or none")
    func plain() throws {
        var pending = try PendingUpdate(update, id: 0x1234, key: nil, at: Self.now)
        let refused = PendingUpdate.Outcome.done(UpdateAnswer(responseCode: 5))
        #expect(try pending.receive(answer(5), at: Self.now) == refused)
        #expect(try pending.receive(answer(5, zone: zone), at: Self.now) == refused)
        #expect(try pending.receive(answer(5, id: 0x1235), at: Self.now) == .foreign)
        #expect(try pending.receive(answer(5, zone: .root), at: Self.now) == .foreign)
        #expect(pending.receive(pending.request, at: Self.now) == .foreign)
        #expect(pending.receive([1, 2, 3], at: Self.now) == .foreign)
    }

    @Test(
        "With a key: an unsigned answer is a hint, the first is kept; a signed one ends it; a forged one is not there")
    func signed() throws {
        let vector = try #require(TSIGTests.vectors.first)
        let request = try Message(reading: vector.plain)
        var pending = try PendingUpdate(request, id: request.id, key: vector.key(), at: Self.now)
        var forged = vector.answer
        forged[forged.count - 10] ^= 1
        #expect(pending.receive(forged, at: Self.now) == .foreign)
        #expect(pending.suspect == .forgery)
        #expect(try pending.receive(answer(0), at: Self.now) == .hint)
        #expect(try pending.receive(answer(9), at: Self.now) == .hint)
        #expect(pending.receive(forged, at: Self.now) == .foreign)
        #expect(pending.suspect == .hint(UpdateAnswer(responseCode: 0, isTrusted: false)))
        #expect(pending.receive(vector.answer, at: Self.now) == .done(UpdateAnswer(responseCode: 0)))
        let late = UpdateAnswer(
            responseCode: ResponseCode.notAuthoritative, signatureError: ResponseCode.badTime,
            serverTime: Self.now + 600)
        #expect(pending.receive(vector.late, at: Self.now) == .done(late))
    }

    @Test("What does not fit in a message is not sent")
    func tooLong() throws {
        let record = ResourceRecord(zone, .txt, .txt([UInt8](repeating: 0, count: 60_000)), ttl: 1)
        let long = Message.update(zone: zone, changes: [record, record])
        #expect(throws: DNSFailure.impossible("an update must fit in 65535 bytes")) {
            try PendingUpdate(long, id: 1, key: nil, at: 0)
        }
        let key = try #require(TSIGTests.vectors.first).key()
        let full = ResourceRecord(zone, .txt, .txt([UInt8](repeating: 0, count: 65_480)), ttl: 1)
        #expect(throws: DNSFailure.impossible("the message is too long to be signed")) {
            try PendingUpdate(.update(zone: zone, changes: [full]), id: 1, key: key, at: 0)
        }
    }
}
