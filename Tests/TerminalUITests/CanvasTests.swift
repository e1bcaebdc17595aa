import TerminalUI
import Testing

/// The screen as a value.
@Suite("Canvas")
struct CanvasTests {
    private let ascii = Renderer.Ability(hasColour: false, hasUnicode: false)

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("text is placed, cut at the edge, and nothing is drawn outside")
    func placing() {
        var canvas = Canvas()
        canvas.put("hello", row: 2, column: 3)
        canvas.put(String(repeating: "x", count: 100), row: 3, column: 75)
        canvas.put("nowhere", row: 24, column: 0)
        canvas.put("nowhere", row: -1, column: 0)
        canvas.put("nowhere", row: 0, column: 80)
        #expect(canvas.text[2] == "   hello")
        #expect(canvas.text[3].count == 80)
        #expect(!canvas.text.joined().contains("nowhere"))
    }

    @Test("escape sequences, newlines and bidi controls of a name are shown, not obeyed")
    func hostile() {
        var canvas = Canvas()
        canvas.put("a\u{1B}[2J\n\u{202E}b", row: 0, column: 0)
        #expect(canvas.text[0] == #"a\u{1B}[2J\u{A}\u{202E}b"#)
        var renderer = Renderer(ascii)
        let drawn = text(renderer.draw(canvas, rows: 24, columns: 80))
        #expect(!drawn.contains("\n") && !drawn.contains("\u{202E}"))
        // Only ours: clearing once, and cursor positions.
        #expect(drawn.components(separatedBy: "\u{1B}[2J").count == 2)
    }

    @Test("wide characters take two columns, and none is cut in half")
    func wide() {
        var canvas = Canvas()
        canvas.put("日本x", row: 0, column: 0)
        canvas.put("日", row: 1, column: 79)
        #expect(canvas.text[0] == "日本x")
        #expect(canvas.text[1].isEmpty)
        var renderer = Renderer(ascii)
        #expect(text(renderer.draw(canvas, rows: 1, columns: 80)).contains("? ? x"))
    }

    @Test("only rows that changed are drawn; all of them when the size changed or it is wanted")
    func difference() {
        var renderer = Renderer(.init(hasColour: true, hasUnicode: true))
        var canvas = Canvas()
        _ = renderer.draw(canvas, rows: 24, columns: 80)
        #expect(renderer.draw(canvas, rows: 24, columns: 80).isEmpty)
        canvas.put("x", row: 5, column: 5, Style(.red, bold: true))
        let change = text(renderer.draw(canvas, rows: 24, columns: 80))
        #expect(change.hasPrefix("\u{1B}[6;1H"))
        #expect(change.contains("\u{1B}[0;1;31mx\u{1B}[0m"))
        #expect(renderer.draw(canvas, rows: 24, columns: 80, anew: true).count > 1000)
        #expect(renderer.draw(canvas, rows: 10, columns: 40).count > 300)
    }

    @Test("without colour there is no colour, on a small terminal nothing beyond its edge")
    func abilities() {
        var canvas = Canvas()
        canvas.put("red", row: 0, column: 0, Style(.red, reverse: true))
        var renderer = Renderer(ascii)
        let drawn = text(renderer.draw(canvas, rows: 5, columns: 20))
        #expect(drawn.contains("\u{1B}[0;7mred"))
        #expect(!drawn.contains("31"))
        #expect(!drawn.contains("\u{1B}[6;1H"))
        #expect(renderer.draw(canvas, rows: 0, columns: 0).count < 20)
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
