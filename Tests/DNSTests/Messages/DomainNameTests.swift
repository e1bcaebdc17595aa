import DNSMessage
import Testing

@Suite("DomainName")
struct DomainNameTests {
    @Test("RFC 4343: equal without regard to the case of ASCII letters, and of nothing else")
    func caseFolding() throws {
        let name = try DomainName("Tony._WITAP._tcp.Local")
        let same = try DomainName("tony._witap._TCP.local")
        #expect(name == same)
        #expect(name.hashValue == same.hashValue)
        #expect(name.description == "Tony._WITAP._tcp.Local.")
        // Ä and ä differ in a byte whose bit 5 must not be folded.
        #expect(try DomainName(labels: [[0xC3, 0x84]]) != DomainName(labels: [[0xC3, 0xA4]]))
        #expect(try DomainName(labels: [[0x40]]) != DomainName(labels: [[0x60]]))
        #expect(try DomainName("a.b") != DomainName(labels: [Array("a.b".utf8)]))
    }

    @Test("Names that are equal have equal hashes, whatever byte stands where", arguments: 0..<12)
    func hashes(place: Int) throws {
        for byte in UInt8.min...(.max) {
            var label = [UInt8](repeating: 0x7A, count: 12)
            label[place] = byte
            let name = try DomainName(labels: [label])
            for other in [byte | 0x20, byte & ~0x20] {
                label[place] = other
                let twin = try DomainName(labels: [label])
                let isSame = byte == other || (0x61...0x7A ~= byte | 0x20 && 0x61...0x7A ~= other | 0x20 && byte < 0x80)
                #expect((name == twin) == isSame)
                #expect((name.hashValue == twin.hashValue) == isSame)
            }
        }
    }

    @Test("RFC 1035 §2.3.4: labels of 1 to 63 bytes, 255 bytes in all")
    func limits() throws {
        let label = [UInt8](repeating: 0x78, count: 63)
        #expect(try DomainName(labels: [label]).wire.count == 65)
        #expect(throws: MessageError.invalidName) { try DomainName(labels: [label + [0x78]]) }
        #expect(throws: MessageError.invalidName) { try DomainName(labels: [[UInt8]()]) }
        let longest = [label, label, label, Array(label.prefix(61))]
        #expect(try DomainName(labels: longest).wire.count == 255)
        #expect(throws: MessageError.invalidName) {
            try DomainName(labels: [label, label, label, Array(label.prefix(62))])
        }
        #expect(throws: MessageError.invalidName) { try DomainName(labels: longest + [[0x78]]) }
    }

    @Test("Labels come back as they were given; a parent is the name without the first")
    func labels() throws {
        let labels: [[UInt8]] = [[0, 1, 2], [0x2E], [0xFF, 0x5C]]
        let name = try DomainName(labels: labels)
        #expect(name.labels.map { Array($0) } == labels)
        #expect(name.parent?.labels.map { Array($0) } == Array(labels.dropFirst()))
        #expect(name.description == #"\000\001\002.\..\255\\."#)
        #expect(DomainName.root.description == ".")
        #expect(DomainName.root.parent == nil)
    }

    @Test(
        "A name lies within itself, its parents and the root",
        arguments: [
            ("a.local", "local", true), ("A.LOCAL", "local", true), ("local", "local", true), ("local", "", true),
            ("xlocal", "local", false), ("local", "a.local", false), ("a.b", "local", false),
        ])
    func within(name: String, other: String, expected: Bool) throws {
        #expect(try DomainName(name).isWithin(DomainName(other)) == expected)
    }
}
