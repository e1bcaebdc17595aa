import DNSSD
import Testing

@Suite("TXT records by literal and subscript")
struct TXTRecordLiteralTests {
    @Test("A literal keeps its order; nil is a key without =")
    func literal() throws {
        let record: TXTRecord = ["path": "/x", "flag": nil, "empty": ""]
        #expect(record == TXTRecord(strings: ["path=/x", "flag", "empty="].map { Array($0.utf8) }))
        #expect(record.description == #""path=/x" "flag" "empty=""#)
        try record.check()
        let none: TXTRecord = [:]
        #expect(none == TXTRecord())
    }

    @Test("A key is found in either case; one without a value, and bytes that are no text, are nil")
    func reading() {
        var record: TXTRecord = ["Path": "/x", "flag": nil]
        record = TXTRecord(strings: record.strings + [Array("bin=".utf8) + [0xFF]])
        #expect(record["path"] == "/x" && record["PATH"] == "/x")
        #expect(record["flag"] == nil && record["bin"] == nil && record["none"] == nil)
        #expect(record.contains("flag"))
    }

    @Test("Setting replaces in its place and keeps the key's case, adds at the end, and nil removes")
    func writing() {
        var record: TXTRecord = ["Path": "/x", "flag": nil, "v": "1"]
        record["path"] = "/y"
        record["new"] = ""
        record["flag"] = nil
        record["none"] = nil
        #expect(record.description == #""Path=/y" "v=1" "new=""#)
        record["v"]? += "0"
        #expect(record["v"] == "10")
    }

    @Test(
        "What breaks a rule is kept, and refused when it is checked",
        arguments: [
            ["": "x"], ["a=b": "x"], ["a": "1", "A": "2"], ["é": "x"], ["long": String(repeating: "x", count: 251)],
        ] as [TXTRecord])
    func broken(record: TXTRecord) {
        #expect(!record.isEmpty)
        let error = #expect(throws: DiscoveryError.self) { try record.check() }
        #expect(error?.code == .invalidTXTRecord)
    }

    @Test("The longest string that fits is no fault")
    func longest() throws {
        let record: TXTRecord = ["long": String(repeating: "x", count: 250)]
        try record.check()
    }
}
