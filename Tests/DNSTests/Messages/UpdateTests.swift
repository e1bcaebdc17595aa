import DNSMessage
import Testing

@Suite("Updates (RFC 2136)")
struct UpdateTests {
    @Test("Each prerequisite and change has its class, and is read as it was written")
    func forms() throws {
        let (zone, name) = (try DomainName("example.org"), try DomainName("a.example.org"))
        let record = ResourceRecord(name, .txt, .txt([1, 65]), ttl: 60)
        let message = Message.update(
            zone: zone,
            prerequisites: [.isNotInUse(name), .exists(name, .srv), .isAbsent(name, .ptr)],
            changes: [record, .deleting(name, .txt), record.asDeletion])
        let read = try Message(reading: message.written(compression: .unicast))
        #expect(read == message)
        #expect(read.opcode == 5 && read.questions == [Question(zone, .soa)])
        #expect(read.answers.map(\.recordClass.rawValue) == [254, 255, 254])
        #expect(read.answers.map(\.type.rawValue) == [255, 33, 12])
        #expect(read.authorities.map(\.recordClass.rawValue) == [1, 255, 254])
        #expect(read.authorities.map(\.ttl) == [60, 0, 0])
        #expect(read.authorities.map(\.data) == [.txt([1, 65]), .other([]), .txt([1, 65])])
    }

    @Test("A signature is taken off a message, which then has its own id and count again")
    func signature() throws {
        let name = try DomainName("a.example.org")
        let signature = TransactionSignature(
            algorithm: try DomainName("hmac-sha256"), time: 0xFFFF_1234_5678, fudge: 300, mac: [1, 2, 3],
            originalID: 0x0102, error: 18, other: [9, 8])
        let record = ResourceRecord(name, .tsig, .tsig(signature), ttl: 0, recordClass: .any)
        var message = Message(id: 0x0102, questions: [Question(name, .soa)])
        let plain = try message.written(compression: .unicast)
        #expect(try SignedMessage(plain) == nil)
        message.id = 7
        message.additionals = [record]
        let signed = try message.written(compression: .unicast)
        #expect(try Message(reading: signed) == message)
        let parts = try #require(try SignedMessage(signed))
        #expect(parts.unsigned == plain && parts.key == name && parts.signature == signature)
        // In full, though the name was written before.
        #expect(signed.count == plain.count + name.wire.count + 10 + 13 + 16 + 3 + 2)
        message.additionals.append(ResourceRecord(name, .a, .a(1), ttl: 0))
        let misplaced = try message.written(compression: .unicast)
        #expect(throws: MessageError.misplacedTSIG) { try SignedMessage(misplaced) }
    }
}
