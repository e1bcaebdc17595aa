import DNSSD
import DiscoveryJSON
import Testing

@Suite("RFC 8259") struct JSONReaderTests {
    private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test(arguments: [
        ("null", JSONValue.null), (" true\r\n", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
        ("-0", .integer(0)), ("-17", .integer(-17)), ("1.5", .double(1.5)), ("1e2", .double(100)),
        ("9223372036854775807", .integer(.max)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
        ("\"\"", .string("")), (#""a\/\"\\\b\f\n\r\t""#, .string("a/\"\\\u{8}\u{C}\n\r\t")),
        (#""\u00e9\ud83d\uDDA8""#, .string("é🖨")), ("[]", .array([])), ("{}", .object([])),
        ("[1, [2], {}]", .array([.integer(1), .array([.integer(2)]), .object([])])),
        (#"{"b":1 , "a":null}"#, .object([.init("b", .integer(1)), .init("a", .null)])),
    ]) func reads(_ text: String, _ value: JSONValue) throws { #expect(try read(text) == value) }

    @Test(arguments: [
        "", " ", "nul", "True", "01", "-", "1.", ".5", "1e", "+1", "0x1", "NaN", "1e999", "\"", "\"a", "\"\\",
        "\"\\x\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "\"a\nb\"", "[",
        "[1",
        "[1,", "[1,]", "[,1]", "[1 2]", "{", "{1:2}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "{\"a\" 1}", "1 2", "[]]", "{\"a\":1,\"a\":2}", "\u{FEFF}1", "'a'", "[1]//",
    ]) func refuses(_ text: String) { #expect(throws: JSONReader.Failure.self) { try read(text) } }

    @Test func refusesWhatIsNotUTF8() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3]] {
            #expect(throws: JSONReader.Failure.self) { try JSONReader.read([0x22] + bytes + [0x22]) }
        }
    }

    @Test func depthIsBounded() throws {
        let (open, close) = (String(repeating: "[", count: 32), String(repeating: "]", count: 32))
        _ = try read(open + close)
        #expect(throws: JSONReader.Failure.self) { try read("[" + open + close + "]") }
        #expect(throws: JSONReader.Failure.self) { try read(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func equalKeysOfALargeObjectAreFound() {
        let members = (0..<100).map { "\"k\($0)\":\($0)" } + ["\"k7\":0"]
        #expect(throws: JSONReader.Failure.self) { try read("{\(members.joined(separator: ","))}") }
    }

    @Test func whatTheWriterWroteIsRead() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let value = JSONValue.random(depth: 0, using: &random)
            var writer = JSONWriter()
            writer.write(value)
            #expect(try JSONReader.read(writer.bytes) == value)
        }
    }

    @Test func anyBytesAreReadOrRefused() {
        var random = SeededGenerator(seed: 11)
        let seed = Array(#"{"v":1,"a":[1,-2.5e3,"x\u00e9",null,true,{"b":"🖨"}],"c":{}}"#.utf8)
        var accepted = 0
        for _ in 0..<50_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                default: bytes.insert(bytes[position], at: position)
                }
            }
            if (try? JSONReader.read(bytes)) != nil { accepted += 1 }
        }
        #expect((1..<50_000).contains(accepted))
    }
}

extension JSONValue {
    static func random(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth < 4 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int.random(in: .min ... .max, using: &random))
        case 3: return .string(text(using: &random))
        case 4:
            return .array(
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in .random(depth: depth + 1, using: &random) }
            )
        default:
            return .object(
                (0..<Int.random(in: 0..<20, using: &random)).map {
                    Member("\($0)\(text(using: &random))", .random(depth: depth + 1, using: &random))
                }
            )
        }
    }

    private static func text(using random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0..<8, using: &random) {
            let limit: UInt32 = Bool.random(using: &random) ? 0x80 : 0x11_0000
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
