import DNSMessage
import Testing

@Suite("Writing messages")
struct MessageWriterTests {
    @Test("Names are compressed, in SRV targets only for multicast (RFC 6762 §18.14, RFC 2782)")
    func compression() throws {
        let record = ResourceRecord(
            try DomainName("tony._witap._tcp.local"), .srv,
            .srv(priority: 0, weight: 0, port: 9000, target: try DomainName("h1.local")), ttl: 120)
        let message = Message(answers: [record, record])
        let multicast = try message.written(compression: .multicast)
        let unicast = try message.written(compression: .unicast)
        // Header; the full name, with "h1" and a pointer; a pointer twice.
        #expect(multicast.count == 12 + (24 + 10 + 6 + 5) + (2 + 10 + 6 + 2))
        #expect(unicast.count == 12 + (24 + 10 + 6 + 10) + (2 + 10 + 6 + 10))
    }

    @Test("Data alone has whole names (RFC 6762 §8.2)")
    func uncompressed() throws {
        let name = try DomainName("h1.local")
        let service = RecordData.srv(priority: 1, weight: 2, port: 0x0304, target: name)
        #expect(service.uncompressed == [0, 1, 0, 2, 3, 4] + name.wire)
        #expect(RecordData.ptr(name).uncompressed == name.wire)
        #expect(RecordData.nsec(next: name, types: [.a]).uncompressed == name.wire + [0, 1, 0x40])
        #expect(RecordData.hinfo(cpu: [65], os: []).uncompressed == [1, 65, 0])
        #expect(RecordData.aaaa(high: 1, low: 2).uncompressed == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2])
        #expect(RecordData.hinfo(cpu: [UInt8](repeating: 0, count: 256), os: []).uncompressed.isEmpty)
    }

    @Test("A name that differs in case only is a pointer to the first")
    func compressionFoldsCase() throws {
        let message = Message(questions: [
            Question(try DomainName("A.Local"), .a), Question(try DomainName("a.local"), .aaaa),
        ])
        #expect(try message.written(compression: .multicast).count == 12 + 9 + 4 + 2 + 4)
    }

    @Test("Records that do not fit are not written, and the rest stays a message")
    func limit() throws {
        var writer = MessageWriter(flags: .truncated, limit: 100, compression: .multicast)
        #expect(writer.isEmpty)
        let question = Question(try DomainName("_witap._tcp.local"), .ptr)
        try #require({ writer.add(question) }())
        var known: [ResourceRecord] = []
        while true {
            let record = ResourceRecord(
                try DomainName("_witap._tcp.local"), .ptr, .ptr(try DomainName("n\(known.count)._witap._tcp.local")),
                ttl: 4500)
            guard writer.add(record, to: .answer) else { break }
            known.append(record)
        }
        #expect(known.count == 3)
        #expect(writer.bytes.count <= 100)
        writer.setFlags([])
        let read = try Message(reading: writer.bytes)
        #expect(read.answers == known)
        #expect(read.flags == [])
    }

    @Test("Removed names are no targets for pointers; sections are written in order")
    func takenBack() throws {
        var writer = MessageWriter(limit: 60, compression: .multicast)
        let name = try DomainName("h1.local")
        let large = ResourceRecord(name, .dhcid, .other([UInt8](repeating: 1, count: 60)), ttl: 1)
        let small = ResourceRecord(name, .a, .a(1), ttl: 1)
        let outcomes = [
            writer.add(large, to: .answer), writer.add(small, to: .authority), writer.add(small, to: .answer),
            writer.add(Question(name, .a)), writer.add(small, to: .additional),
        ]
        #expect(outcomes == [false, true, false, false, true])
        #expect(try Message(reading: writer.bytes) == Message(authorities: [small], additionals: [small]))
    }

    @Test("A part that is too long for its field is refused")
    func oversized() throws {
        let text = [UInt8](repeating: 0, count: 65_536)
        var writer = MessageWriter(limit: .max, compression: .unicast)
        let long = [UInt8](repeating: 0, count: 256)
        for (type, data) in [(RecordType.txt, RecordData.txt(text)), (.hinfo, .hinfo(cpu: long, os: []))] {
            let fits = writer.add(ResourceRecord(.root, type, data, ttl: 0), to: .answer)
            #expect(!fits)
        }
        #expect(throws: MessageError.oversizedField) { try TextStrings.data(of: [long]) }
        #expect(writer.isEmpty)
        #expect(writer.bytes.count == 12)
    }

    @Test("A name beyond the reach of a pointer is written in full")
    func farNames() throws {
        var message = Message()
        for number in 0..<400 {
            message.answers.append(
                ResourceRecord(
                    try DomainName("host\(number).local"), .txt,
                    .txt(try TextStrings.data(of: [[UInt8](repeating: 1, count: 40)])), ttl: 1))
        }
        message.answers.append(ResourceRecord(try DomainName("far.example.org"), .a, .a(1), ttl: 1))
        message.answers.append(ResourceRecord(try DomainName("far.example.org"), .a, .a(2), ttl: 1))
        let bytes = try message.written(compression: .multicast)
        #expect(bytes.count > 0x4000)
        #expect(try Message(reading: bytes) == message)
    }
}
