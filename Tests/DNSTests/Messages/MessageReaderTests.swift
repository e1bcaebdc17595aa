import DNSMessage
import DNSSD
import Testing

@Suite("Reading messages")
struct MessageReaderTests {
    @Test("Written messages can be read again")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<rounds(2000) {
            let message = try generator.message()
            for compression in [MessageWriter.Compression.multicast, .unicast] {
                #expect(try Message(reading: message.written(compression: compression)) == message)
            }
        }
    }

    @Test("No prefix and no changed byte of a message is a trap")
    func mutations() throws {
        var generator = SeededGenerator(seed: 2)
        var read = 0
        for _ in 0..<rounds(150) {
            let bytes = try generator.message().written(compression: .multicast)
            for count in 0..<bytes.count { if (try? Message(reading: Array(bytes.prefix(count)))) != nil { read += 1 } }
            for _ in 0..<60 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    changed[Int.random(in: 0..<changed.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
                guard let message = try? Message(reading: changed) else { continue }
                read += 1
                // Anything readable can be written, unless our compression makes it longer than a message.
                if let written = try? message.written(compression: .multicast) {
                    #expect(try Message(reading: written) == message)
                }
            }
        }
        #expect(read > rounds(1000))
    }

    @Test(
        "RFC 1035 §4.1.4: a pointer leads to an earlier place of the message",
        arguments: [
            // A pointer to itself, to the byte behind it, beyond the end; two that point to each other; and one that comes back through a
            // label.
            [0xC0, 12], [0xC0, 14], [0xFF, 0xFF], [0xC0, 14, 0xC0, 12], [1, 0x61, 0xC0, 12],
        ] as [[UInt8]])
    func pointers(name: [UInt8]) {
        #expect(throws: MessageError.badPointer) { try Message(reading: .header(1) + name + [0, 1, 0, 1]) }
    }

    @Test(
        "RFC 3597 §4: names in data are whole outside of the message; data whose pointer leads nowhere stays as it is")
    func namesInData() throws {
        let owner: [UInt8] = [1, 0x61, 0]
        let head = { (type: UInt8, length: UInt8) in [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 9, 0, length] as [UInt8] }
        let question = owner + [0, 15, 0, 1]
        for (type, data, whole) in [
            (15, [0, 10, 0xC0, 12], [0, 10] + owner), (15, [0, 10, 1, 0x62, 0xC0, 12], [0, 10, 1, 0x62] + owner),
            (17, [0xC0, 12, 0xC0, 12], owner + owner),
            (35, [0, 1, 0, 2, 1, 0x55, 0, 0, 0xC0, 12], [0, 1, 0, 2, 1, 0x55, 0, 0] + owner),
            (15, [0, 10, 0xC0, 200], [0, 10, 0xC0, 200]), (15, [0, 10], [0, 10]),
            (15, [0, 10, 0xC0, 12, 7], [0, 10, 0xC0, 12, 7]),
            (43, [0, 10, 0xC0, 12], [0, 10, 0xC0, 12]),
        ] as [(UInt8, [UInt8], [UInt8])] {
            let message = try Message(reading: .header(1, 1) + question + head(type, UInt8(data.count)) + data)
            #expect(message.answers.first?.data == .other(whole), "\(type) \(data)")
        }
    }

    @Test("A long chain of pointers is followed no further than a name can be long")
    func pointerChain() {
        var bytes: [UInt8] = .header(0, 1)
        // The record's data holds a chain of pointers; the next record's name points to its end.
        let start = bytes.count + 11
        var data: [UInt8] = [0]
        for link in 0..<200 {
            let target = start + (link == 0 ? 0 : 1 + 2 * (link - 1))
            data += [0xC0 | UInt8(target >> 8), UInt8(target & 0xFF)]
        }
        bytes[7] = 2
        bytes += [0, 0, 99, 0, 1, 0, 0, 0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
        let last = start + data.count - 2
        bytes += [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF), 0, 99, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(throws: MessageError.badPointer) { try Message(reading: bytes) }
    }

    @Test("A name that pointers make longer than 255 bytes is refused, whichever way it was read before")
    func longNames() {
        let label: [UInt8] = [63] + [UInt8](repeating: 0x78, count: 63)
        let long = label + label + label
        let first = long + [0] + [0, 1, 0, 1]
        let second = label + [0xC0, 12] + [0, 1, 0, 1]
        #expect(throws: MessageError.invalidName) { try Message(reading: .header(2) + first + second) }
        let inner = label + [0xC0, 12 + 64] + [0, 1, 0, 1]
        #expect((try? Message(reading: .header(2) + first + inner))?.questions.last?.name.labels.count == 3)
    }

    @Test(
        "Label types that no standard uses are refused (RFC 6891 §5)", arguments: [0x40, 0x41, 0x80, 0xBF] as [UInt8])
    func reservedLabels(byte: UInt8) {
        #expect(throws: MessageError.reservedLabel) { try Message(reading: .header(1) + [byte, 0, 0, 0, 1, 0, 1]) }
    }

    @Test("A header that counts more than there is, or data that is longer than the message")
    func truncated() {
        for count in 0..<12 {
            #expect(throws: MessageError.truncated) {
                try Message(reading: [UInt8](repeating: 0, count: count))
            }
        }
        #expect(throws: MessageError.truncated) { try Message(reading: [0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]) }
        #expect(throws: MessageError.truncated) {
            try Message(reading: .header(0, 1) + [0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 5, 1, 2, 3, 4])
        }
        #expect(throws: MessageError.tooLong) {
            try Message(reading: [UInt8](repeating: 0, count: 9001), limit: Message.maximumMulticastLength)
        }
    }

    @Test("Data that breaks its type's format stays bytes, and the next record is read")
    func oddData() throws {
        let odd: [(UInt8, [UInt8])] = [
            (1, [1, 2, 3]), (28, [1]), (16, [9, 1]), (16, []), (33, [0, 0, 0, 0, 0]), (12, [0xC0, 0xFF]), (12, [0, 0]),
            (13, [4, 1]),
            (47, [0, 0, 0]), (47, [0, 0, 33]), (6, [0, 0]),
        ]
        for (type, data) in odd {
            let bytes =
                .header(0, 2) + [0, 0, type, 0, 1, 0, 0, 0, 9, 0, UInt8(data.count)] + data
                + [0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 10, 0, 0, 7]
            let message = try Message(reading: bytes)
            #expect(message.answers.map(\.data) == [.other(data), .a(0x0A00_0007)], "type \(type)")
        }
    }

    @Test("A bitmap of all the types that there can be is not read: its record stays bytes")
    func endlessBitmap() throws {
        let windows = (0..<256).flatMap { [UInt8($0), 32] + [UInt8](repeating: 0xFF, count: 32) }
        let data: [UInt8] = [0] + windows
        let length = [UInt8(data.count >> 8), UInt8(data.count & 0xFF)]
        let bytes = .header(0, 1) + [0, 0, 47, 0, 1, 0, 0, 0, 9] + length + data
        #expect(try Message(reading: bytes).answers.map(\.data) == [.other(data)])
    }

    @Test("One OPT record is EDNS; a second is refused (RFC 6891 §6.1.1)")
    func edns() throws {
        let opt: [UInt8] = [0, 0, 41, 0x04, 0xD0, 1, 0, 0x80, 0, 0, 5, 0, 2, 0, 1, 7]
        var header: [UInt8] = .header()
        header[11] = 1
        let message = try Message(reading: header + opt)
        #expect(
            message.edns
                == EDNS(
                    payloadSize: 1232, extendedResponseCode: 1, version: 0, flags: 0x8000,
                    options: [EDNS.Option(code: 2, data: [7])]))
        #expect(message.responseCode == 16)
        #expect(message.additionals.isEmpty)
        header[11] = 2
        #expect(throws: MessageError.repeatedOPT) { try Message(reading: header + opt + opt) }
    }

    @Test("The top bit of the class is QU in a question and cache-flush in a record (RFC 6762 §5.4, §10.2)")
    func topBit() throws {
        let message = try Message(
            reading: .header(1, 1) + [0, 0, 1, 0x80, 1] + [0, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 1, 2, 3, 4])
        #expect(message.questions == [Question(.root, .a, wantsUnicastResponse: true)])
        #expect(
            message.answers == [ResourceRecord(.root, .a, .a(0x0102_0304), ttl: 120, flushesCache: true)])
    }
}
