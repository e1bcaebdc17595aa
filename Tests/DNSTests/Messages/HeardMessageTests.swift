import DNSMessage
import DNSSD
import Testing

@Suite("What is read of a message of multicast DNS")
struct HeardMessageTests {
    /// An address of the root, and an OPT record with these bytes of options.
    private let address: [UInt8] = [0, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 7]
    private func opt(_ options: [UInt8]) -> [UInt8] {
        [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, UInt8(options.count)] + options
    }

    @Test("An OPT record is a record like others: one that cannot be read, and a second, hide nothing")
    func odd() throws {
        let whole: [UInt8] = [0, 2, 0, 1, 7]
        for (first, second) in [
            ([0, 2, 0, 9, 7], nil), ([1], nil), (whole, whole), ([1], whole), (whole, [0, 2, 0, 9, 7]),
        ] as [([UInt8], [UInt8]?)] {
            let opts = opt(first) + (second.map(opt) ?? [])
            let bytes = .header(0, second == nil ? 2 : 3, flags: 0x84) + opts + address
            #expect(throws: MessageError.self) { try Message(reading: bytes) }
            let heard = try #require(HeardMessage(bytes))
            #expect(heard.fault == nil)
            #expect(
                heard.message.answers.last?.data == .a(0x0A00_0007) && heard.message.answers.last?.flushesCache == true)
            #expect((heard.message.edns != nil) == (first == whole || second == whole))
            let raw = heard.message.answers.filter { $0.type == .opt }.map(\.data)
            #expect(
                raw
                    == [first, second].compactMap(\.self).filter { $0 != whole || first == second }.suffix(1).map {
                        .other($0)
                    })
        }
    }

    @Test("A response is read up to its first fault, without flushes and goodbyes; a query with a fault is not read")
    func cut() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<rounds(40) {
            var message = try generator.message()
            message.edns = nil
            message.flags.insert(.response)
            let bytes = try message.written(compression: .multicast)
            let all = message.answers + message.authorities + message.additionals
            #expect(HeardMessage(bytes)?.message == message && HeardMessage(bytes)?.fault == nil)
            for count in 0..<bytes.count {
                let cut = Array(bytes.prefix(count))
                guard let heard = HeardMessage(cut) else {
                    try #require(count < 12)
                    continue
                }
                #expect(heard.fault == .truncated)
                let read = heard.message.answers + heard.message.authorities + heard.message.additionals
                #expect(read.allSatisfy { !$0.flushesCache && 1..<UInt32(1) << 31 ~= $0.ttl })
                var left = all[...]
                for record in read {
                    left = left.drop { $0.name != record.name || $0.data != record.data }
                    #expect(left.popFirst() != nil)
                }
                var query = cut
                query[2] &= 0x7F
                #expect(HeardMessage(query) == nil)
            }
        }
    }

    @Test("A bad name of an owner, and a count that is too high, end the reading, and are named")
    func faults() throws {
        let long: [UInt8] = (0..<5).flatMap { _ in [63] + [UInt8](repeating: 0x78, count: 63) } + [0]
        for (name, fault) in [
            (long, .invalidName), ([0x41, 0], .reservedLabel), ([0xC0, 200], .badPointer), ([], .truncated),
        ] as [([UInt8], MessageError)] {
            let rest: [UInt8] = name.isEmpty ? [] : name + address.dropFirst()
            let heard = try #require(HeardMessage(.header(0, 2, flags: 0x84) + address + rest))
            #expect(heard.fault == fault && heard.message.answers.map(\.data) == [.a(0x0A00_0007)])
        }
    }
}
