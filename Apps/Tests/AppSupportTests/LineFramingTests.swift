import AppSupport
import CommandFrame
import Testing

@Suite("Lines, bounded in length")
struct LineFramingTests {
    private func lines(_ texts: String..., limit: Int = 8, ends: Set<UInt8> = [0x0A]) -> [LineFraming.Line] {
        var framing = LineFraming(limit: limit, ends: ends)
        return texts.flatMap { framing.received($0.utf8) }
    }

    @Test("lines come out whole, however the stream was cut; CR LF is an end as LF is")
    func cut() {
        #expect(lines("a\r", "\nb", "c\n", "\n") == [.line([0x61]), .line([0x62, 0x63]), .line([])])
    }

    @Test("a line at the limit passes; a longer one is skipped to its end and reported once")
    func tooLong() {
        #expect(lines("12345678\r\n") == [.line(Array("12345678".utf8))])
        #expect(lines("123456789", "0123456789", "\nx\n") == [.tooLong, .line([0x78])])
        #expect(lines("123456789\r\n") == [.tooLong])
    }

    @Test("a megabyte without an end keeps no more than the limit")
    func megabyte() {
        var framing = LineFraming(limit: 8)
        #expect(framing.received(repeatElement(0x61, count: 1_000_000)) == [.tooLong])
        #expect(framing.ended() == nil)
        #expect(framing.received("ok\n".utf8) == [.line(Array("ok".utf8))])
    }

    @Test("other bytes may end a line; the rest of a stream is a line too")
    func ends() {
        #expect(lines("a\0b\n", ends: [0, 0x0A]) == [.line([0x61]), .line([0x62])])
        var framing = LineFraming(limit: 8)
        #expect(framing.received("rest".utf8).isEmpty)
        #expect(framing.ended() == Array("rest".utf8))
        #expect(framing.ended() == nil)
    }

    @Test("text is made safe for a terminal, and stays as it is when it already is")
    func safe() {
        #expect("a\u{1B}[2J".safeForTerminal == "a\\u{1B}[2J")
        #expect("a\\u{1B}".safeForTerminal == "a\\u{1B}")
    }
}
