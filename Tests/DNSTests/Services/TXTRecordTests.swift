import DNSSD
import Testing

@Suite("TXTRecord, to publish")
struct TXTRecordPublishingTests {
    @Test("RFC 6763 §6.4: a key without =, an empty value and bytes are different things")
    func values() throws {
        var record = try TXTRecord(["path": "/x", "flag": nil, "empty": ""])
        try record.append(key: "bin", value: [0xFF, 0])
        #expect(record.entries.map(\.key) == ["path", "flag", "empty", "bin"])
        #expect(
            record.strings == [
                Array("path=/x".utf8), Array("flag".utf8), Array("empty=".utf8), Array("bin=".utf8) + [255, 0],
            ]
        )
        #expect(record.text(for: "PATH") == "/x" && record.bytes(for: "path") == [47, 120])
        #expect(record.contains("flag") && record.bytes(for: "flag") == nil && record.entry(for: "flag")?.value == nil)
        #expect(record.bytes(for: "empty") == [] && record.text(for: "empty") == "")
        #expect(record.text(for: "bin") == nil && record.bytes(for: "bin") == [255, 0])
        #expect(!record.contains("other") && record.entry(for: "other") == nil)
        #expect(record.wireSize == 8 + 5 + 7 + 7)
    }

    @Test("RFC 6763 §6.1: an empty record is one zero byte")
    func empty() {
        #expect(TXTRecord().wireSize == 1 && TXTRecord().strings.isEmpty && TXTRecord().isEmpty)
    }

    @Test(
        "RFC 6763 §6.4: keys that are refused, and why",
        arguments: [
            ("", "at least one"), ("a=b", "\"=\""), ("a\nb", "\\u{A}"), ("ü", "ü"), ("\u{7F}", "\\u{7F}"),
            ("\0", "\\u{0}"),
            ("e\u{301}", "printable"), ("PATH", "already"),
        ]
    )
    func keys(key: String, fragment: String) throws {
        var record = try TXTRecord(["path": "/x"])
        let before = record
        let error = refusal { () throws(DiscoveryError) in try record.append(key: key, value: nil) }
        #expect(error?.code == .invalidTXTRecord)
        #expect(
            error.map { $0.message.contains(fragment) && isSafe($0.message) } == true,
            "\(error?.message ?? "accepted")"
        )
        #expect(record == before)
    }

    @Test("RFC 6763 §6.1: 255 bytes with key and =")
    func stringLength() throws {
        var record = TXTRecord()
        try record.append(key: "k", value: Array(repeating: 0, count: 253))
        try record.append(key: String(repeating: "x", count: 255), value: nil)
        for (key, value) in [("a", Array(repeating: UInt8(0), count: 254)), (String(repeating: "y", count: 256), nil)] {
            let error = refusal { () throws(DiscoveryError) in try record.append(key: key, value: value) }
            #expect(error?.message.contains("256 bytes") == true)
        }
        #expect(record.entries.count == 2)
    }

    @Test("RFC 6763 §6.2: a warning over 1300 bytes, an error over 8900")
    func size() throws {
        var record = TXTRecord()
        for number in 0..<5 { try record.append(key: "k\(number)", value: Array(repeating: 0, count: 252)) }
        try record.append(key: "fit", value: Array(repeating: 0, count: 1300 - 1280 - 5))
        #expect(record.wireSize == 1300 && record.warnings.isEmpty)
        try record.append(key: "x", value: nil)
        #expect(record.wireSize == 1302 && record.warnings.first?.contains("1302 bytes") == true)

        record = TXTRecord()
        for number in 10..<44 { try record.append(key: "k\(number)", value: Array(repeating: 0, count: 251)) }
        #expect(record.wireSize == 8704)
        var almost = record
        try almost.append(key: "fit", value: Array(repeating: 0, count: 190))
        #expect(almost.wireSize == 8899)
        #expect(refusal { () throws(DiscoveryError) in try almost.append(key: "x", value: nil) } != nil)
        try record.append(key: "fit", value: Array(repeating: 0, count: 191))
        #expect(record.wireSize == 8900)
        let error = refusal { () throws(DiscoveryError) in try record.append(key: "x", value: nil) }
        #expect(error?.message.contains("8900") == true)
        #expect(TXTRecord(strings: record.strings) == record)
    }

    @Test func entryCount() throws {
        var record = TXTRecord()
        for number in 0..<256 { try record.append(key: "k\(number)", value: nil) }
        #expect(
            refusal { () throws(DiscoveryError) in try record.append(key: "x", value: nil) }?.message.contains("256")
                == true
        )
        #expect(TXTRecord(strings: record.strings) == record)
    }

    @Test("What a person writes: KEY=VALUE, KEY=, KEY")
    func arguments() throws {
        var record = TXTRecord()
        for argument in ["path=/x=y", "empty=", "flag", "mark=\u{301}", "text=a\nb"] {
            try record.append(argument: argument)
        }
        #expect(record.text(for: "path") == "/x=y" && record.text(for: "empty") == "")
        #expect(record.contains("flag") && record.bytes(for: "flag") == nil)
        #expect(same(record.text(for: "mark"), "\u{301}") && record.text(for: "text") == "a\nb")
        try record.append(base64Argument: "bin=/wA=")
        #expect(record.bytes(for: "bin") == [0xFF, 0])
        for bad in ["bin2=/wA", "bin2", "bin2=a b=", "=AA=="] {
            #expect(
                refusal { () throws(DiscoveryError) in try record.append(base64Argument: bad) }?.code
                    == .invalidTXTRecord
            )
        }
        #expect(refusal { () throws(DiscoveryError) in try record.append(argument: "=x") }?.code == .invalidTXTRecord)
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        var record = TXTRecord()
        for error in [
            refusal({ () throws(DiscoveryError) in try record.append(argument: text) }),
            refusal({ () throws(DiscoveryError) in try record.append(base64Argument: text) }),
        ] {
            if let error { #expect(isSafe(error.message) && error.message.utf8.count < 2500) }
        }
    }
}

@Suite("TXTRecord, from the network")
struct TXTRecordReadingTests {
    private func read(_ strings: String...) -> TXTRecord { TXTRecord(strings: strings.map { Array($0.utf8) }) }

    @Test("RFC 6763 §6.4: no key is ignored, the first of equal keys counts, order and case are kept")
    func rules() {
        let record = read("", "=x", "=", "Path=/a", "PATH=/b", "path", "flag", "Flag=1", "e=", "a=b=c", "z")
        #expect(record.entries.map(\.key) == ["Path", "flag", "e", "a", "z"])
        #expect(record.text(for: "path") == "/a" && record.bytes(for: "flag") == nil && record.text(for: "a") == "b=c")
        #expect(record.bytes(for: "e") == [] && !record.isTruncated)
    }

    @Test("RFC 6763 §6.4: keys are printable ASCII")
    func unprintableKeys() {
        let record = read("\u{1B}[2J=x", "ü=x", "a\nb", "\u{7F}", "\0=1", " =space", "~=tilde", "ok=1")
        #expect(record.entries.map(\.key) == [" ", "~", "ok"])
        #expect(TXTRecord(strings: [[0xFF, 0x3D], [0xC3], [0x6B, 0x3D, 0xC3]]).entries.map(\.value) == [[0xC3]])
    }

    @Test("Values are bytes; text is a view of them")
    func values() {
        let record = TXTRecord(strings: [
            Array("a=".utf8) + [0xC3, 0x28], Array("b=".utf8) + [0xC3, 0xBC], Array("c=\0".utf8),
        ])
        #expect(record.text(for: "a") == nil && record.bytes(for: "a") == [0xC3, 0x28])
        #expect(record.text(for: "b") == "ü" && record.text(for: "c") == "\0")
    }

    @Test("Limits: 8900 bytes and 256 entries are kept, the rest is reported")
    func caps() {
        let many = TXTRecord(strings: (0..<5000).map { Array("k\($0)=v".utf8) })
        #expect(many.entries.count == 256 && many.isTruncated)
        #expect(many.entries.last?.key == "k255")
        let large = TXTRecord(strings: (0..<300).map { Array("k\($0)=".utf8) + Array(repeating: 0xFF, count: 240) })
        #expect(large.wireSize <= 8900 && large.wireSize > 8600 && large.isTruncated)
        let empties = TXTRecord(strings: Array(repeating: [], count: 65_535))
        #expect(empties.isEmpty && empties.isTruncated)
        let oversized = TXTRecord(strings: [
            Array("a=1".utf8), Array(repeating: 0x61, count: 65_535), Array("b=1".utf8),
        ])
        #expect(oversized.entries.map(\.key) == ["a"] && oversized.isTruncated)
        let duplicates = TXTRecord(strings: Array(repeating: Array("k=v".utf8), count: 300))
        #expect(duplicates.entries.count == 1 && !duplicates.isTruncated)
        #expect(!TXTRecord(strings: (0..<256).map { Array("k\($0)".utf8) }).isTruncated)
    }

    @Test("RFC 6763 §6.6: 255 signs")
    func signs() {
        #expect(TXTRecord(strings: [Array(repeating: 0x3D, count: 255)]).isEmpty)
        #expect(TXTRecord(strings: [[0x61] + Array(repeating: 0x3D, count: 254)]).bytes(for: "a")?.count == 253)
    }

    @Test("Reading is stable, and agrees with a naïve reader")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<3000 {
            let strings = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                var bytes = generator.bytes(0...12)
                for index in bytes.indices where Bool.random(using: &generator) {
                    bytes[index] = Array("aAbB=".utf8).randomElement(using: &generator) ?? 0
                }
                return bytes
            }
            let record = TXTRecord(strings: strings)
            #expect(TXTRecord(strings: record.strings) == record)
            #expect(record.strings.reduce(0) { $0 + $1.count + 1 } == (record.isEmpty ? 0 : record.wireSize))
            var seen: [String] = []
            var kept: [[UInt8]] = []
            for string in strings {
                let key = string.firstIndex(of: 0x3D).map { string[..<$0] } ?? string[...]
                let name = String(decoding: key, as: UTF8.self).lowercased()
                guard !key.isEmpty, key.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), !seen.contains(name) else { continue }
                seen.append(name)
                kept.append(string)
            }
            #expect(record.strings == kept)
            var published = TXTRecord()
            for entry in record.entries { try published.append(key: entry.key, value: entry.value) }
            #expect(published == record)
        }
    }
}
