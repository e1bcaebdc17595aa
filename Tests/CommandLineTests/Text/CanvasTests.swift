import CommandText
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
        #expect(canvas.text[3].hasSuffix("   xxxx…") && canvas.text[3].count == 80)
        #expect(!canvas.text.joined().contains("nowhere"))
    }

    @Test("paragraphs stand below each other, broken at spaces; what does not fit ends with an ellipsis")
    func paragraphs() {
        var canvas = Canvas(ScreenSize(columns: 12, rows: 6))
        canvas.put(
            paragraphs: ["one two three", "", "four\u{1B}", "five six seven eight", "nine"], rows: 1..<5, column: 2)
        #expect(canvas.text == ["", "  one two", "  three", "  four\\u{1B}", "  five six …", ""])
        canvas.put(paragraphs: ["x"], rows: 2..<2, column: 2)
        canvas.put(paragraphs: ["x"], rows: 0..<6, column: 12)
        #expect(canvas.text[0].isEmpty)
    }

    @Test("escape sequences, newlines and bidi controls of a name are shown, not obeyed")
    func hostile() {
        var canvas = Canvas()
        canvas.put("a\u{1B}[2J\n\u{202E}b", row: 0, column: 0)
        #expect(canvas.text[0] == #"a\u{1B}[2J\u{A}\u{202E}b"#)
        var renderer = Renderer(ascii)
        let drawn = text(renderer.draw(canvas))
        #expect(!drawn.contains("\n") && !drawn.contains("\u{202E}"))
        // Only our own escapes: clearing once, and cursor positions.
        #expect(drawn.components(separatedBy: "\u{1B}[2J").count == 2)
    }

    @Test("wide characters take two columns, and none is cut in half")
    func wide() {
        var canvas = Canvas(ScreenSize(columns: 6, rows: 3))
        canvas.put("日本x", row: 0, column: 0)
        canvas.put("日", row: 1, column: 5)
        canvas.put("日本東京", row: 2, column: 0)
        #expect(canvas.text == ["日本x", "     …", "日本…"])
        var renderer = Renderer(ascii)
        #expect(String(decoding: renderer.draw(canvas), as: UTF8.self).contains("? ? x"))
        // The same width as elsewhere: flags, hearts, families, a lone combining mark.
        for piece in ["🇩🇪", "❤️", "👨‍👩‍👧", "\u{301}", "한", "e\u{301}"] {
            for column in 0..<6 {
                canvas.put(piece, row: 1, column: column)
                canvas.put("12345" + piece, row: 2, column: column)
            }
        }
    }

    @Test("only rows that changed are drawn; all of them when the size changed or it is wanted")
    func difference() {
        var renderer = Renderer(.init(hasColour: true, hasUnicode: true))
        var canvas = Canvas()
        _ = renderer.draw(canvas)
        #expect(renderer.draw(canvas).isEmpty)
        canvas.put("x", row: 5, column: 5, Style(.red, bold: true))
        let change = text(renderer.draw(canvas))
        #expect(change.hasPrefix("\u{1B}[6;1H"))
        #expect(change.contains("\u{1B}[0;1;31mx\u{1B}[0m"))
        #expect(renderer.draw(canvas, anew: true).count > 1000)
        #expect(renderer.draw(Canvas(ScreenSize(columns: 40, rows: 10))).count > 300)
    }

    @Test(
        "without colour there is no colour; without UTF-8 lines are drawn in ASCII, and names show where they had more")
    func abilities() {
        var canvas = Canvas(ScreenSize(columns: 20, rows: 5))
        canvas.put("red", row: 0, column: 0, Style(.red, reverse: true))
        canvas.put("┌─┬─┐│▼█░", row: 1, column: 0)
        canvas.put("Zoë and a long name", row: 2, column: 6)
        var renderer = Renderer(ascii)
        let drawn = text(renderer.draw(canvas))
        #expect(drawn.contains("\u{1B}[0;7mred"))
        #expect(!drawn.contains("31"))
        #expect(drawn.contains("+-+-+|v#."))
        #expect(drawn.contains("Zo? and a lon."))
        #expect(drawn.utf8.allSatisfy { $0 < 0x80 })
        #expect(!drawn.contains("\u{1B}[6;1H"))
    }

    @Test("a long text is broken at spaces, and ends with … where it does not fit")
    func wrapping() {
        var canvas = Canvas(ScreenSize(columns: 12, rows: 4))
        canvas.put("one two three four five six seven", rows: 0..<3, column: 2)
        #expect(canvas.text == ["  one two", "  three four", "  five six …", ""])
        canvas = Canvas(ScreenSize(columns: 6, rows: 3))
        canvas.put("a-very-long-word and", rows: 0..<3, column: 0)
        #expect(canvas.text == ["a-very", "-long-", "word …"])
        for columns in 1...20 {
            var canvas = Canvas(ScreenSize(columns: columns, rows: 30))
            canvas.put("日本 and\u{1B} more", rows: 0..<30, column: 0)
            canvas.put("日本", row: 29, column: columns - 1)
        }
    }

    @Test("a size is within bounds")
    func bounds() {
        #expect(ScreenSize(columns: 0, rows: -1) == ScreenSize(columns: 1, rows: 1))
        #expect(ScreenSize(columns: 65_535, rows: 65_535).columns == 500)
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }

    @Test("text that is safe already stays as it was counted; what is gone is dim")
    func safe() {
        var canvas = Canvas(ScreenSize(columns: 40, rows: 1))
        canvas.put(safe: "a\\u{1B} \u{2764}\u{FE0F}|", row: 0, column: 0, Style(dim: true))
        #expect(canvas.text == ["a\\u{1B} \u{2764}\u{FE0F}|"])
        var renderer = Renderer(.init(hasColour: false, hasUnicode: true))
        #expect(String(decoding: renderer.draw(canvas), as: UTF8.self).contains("\u{1B}[0;2ma"))
        #expect(renderer.draw(canvas).isEmpty)
    }
}
