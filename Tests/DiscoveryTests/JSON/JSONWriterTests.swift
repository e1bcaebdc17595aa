import DiscoveryJSON
import Testing

@Suite("JSON (RFC 8259)")
struct JSONWriterTests {
    /// The writer's output as text.
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("§4, §5: members and elements are separated by commas, in the order given")
    func nesting() {
        let text = text { json in
            json.object { json in
                json.member("z", 1)
                json.member("a", ["x", "y"])
                json.key("empty")
                json.object { _ in }
                json.key("list")
                json.array { json in
                    json.null()
                    json.bool(true)
                    json.object { $0.member("n", Int?.none) }
                    json.array { _ in }
                    json.number(-3)
                }
            }
        }
        #expect(text == #"{"z":1,"a":["x","y"],"empty":{},"list":[null,true,{"n":null},[],-3]}"#)
    }

    @Test("Lines are separate values: no comma between them")
    func lines() {
        let text = text { json in
            json.line("one")
            json.line("two") { $0.member("n", 2) }
        }
        #expect(text == "{\"v\":1,\"event\":\"one\"}\n{\"v\":1,\"event\":\"two\",\"n\":2}\n")
    }

    @Test("A writer can be used again")
    func reuse() {
        var writer = JSONWriter()
        writer.number(1)
        writer.removeAll()
        writer.number(2)
        #expect(writer.bytes == Array("2".utf8))
    }

    @Test(
        "§7: quotation marks, backslashes and controls are escaped",
        arguments: [
            ("a\"b\\c", #""a\"b\\c""#),
            ("\u{08}\u{09}\u{0A}\u{0C}\u{0D}", #""\b\t\n\f\r""#),
            ("\u{00}\u{1B}[2J\u{1F}", #""\u0000\u001b[2J\u001f""#),
            ("/ is left alone", #""/ is left alone""#),
            ("Büro 2 🖨", #""Büro 2 🖨""#),
            ("", #""""#),
        ]
    )
    func escaping(value: String, expected: String) {
        #expect(text { $0.string(value) } == expected)
    }

    @Test(
        "Characters that a terminal would act on or hide are escaped",
        arguments: [
            ("\u{7F}", #""\u007f""#), ("\u{80}\u{9B}\u{9F}", #""\u0080\u009b\u009f""#),
            ("\u{202E}\u{2066}\u{200F}\u{061C}", #""\u202e\u2066\u200f\u061c""#),
            ("a\u{200B}\u{200D}\u{FEFF}", #""a\u200b\u200d\ufeff""#),
            ("\u{2028}\u{2029}", #""\u2028\u2029""#),
            // Beyond the basic plane: a surrogate pair (RFC 8259 §7).
            ("\u{E0041}", #""\udb40\udc41""#),
        ]
    )
    func hidden(value: String, expected: String) {
        #expect(text { $0.string(value) } == expected)
    }

    @Test("Keys are escaped as strings are")
    func keys() {
        #expect(text { json in json.object { $0.member("a\"\u{1B}", 1) } } == #"{"a\"\u001b":1}"#)
    }
}
