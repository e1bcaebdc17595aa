import LanChatCore
import Testing

@Suite("The line that is typed")
struct LineEditorTests {
    private func typed(_ text: String) -> (LineEditor, [LineEditor.Event]) {
        var editor = LineEditor()
        let events = editor.received(text.utf8)
        return (editor, events)
    }

    @Test("characters, also of several bytes that come one by one, and Enter")
    func characters() {
        var editor = LineEditor()
        for byte in "h\u{E9}\u{1F600}".utf8 { _ = editor.received([byte]) }
        #expect(editor.text == "h\u{E9}\u{1F600}")
        #expect(editor.received([0x0D]) == [.line("h\u{E9}\u{1F600}")])
        #expect(editor.text.isEmpty)
    }

    @Test("Backspace, Ctrl-W and Ctrl-U take away a character, a word, everything")
    func editing() {
        #expect(typed("ab\u{7F}").0.text == "a")
        #expect(typed("\u{7F}").1.isEmpty)
        #expect(typed("one two  \u{17}").0.text == "one ")
        #expect(typed("one two\u{15}x").0.text == "x")
    }

    @Test("cursor keys and other sequences leave nothing behind; Ctrl-D ends only an empty line")
    func sequences() {
        #expect(typed("a\u{1B}[1;5Cb\u{1B}OPc\u{1B}xd").0.text == "abcd")
        #expect(typed("a\u{4}").1 == [.changed])
        #expect(typed("\u{4}").1 == [.end])
        #expect(typed("a\u{3}").1.last == .end)
    }

    @Test("bytes that are no UTF-8, and a line without an end, do no harm")
    func hostile() {
        var editor = LineEditor()
        _ = editor.received([0xFF, 0x80, 0x80, 0x80, 0x80, 0xC3, 0x61])
        #expect(editor.text == "a")
        _ = editor.received(repeatElement(0x62, count: 100_000))
        #expect(editor.text.count == LineEditor.limit)
    }
}
