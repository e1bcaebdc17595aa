import CommandText
import Testing

/// Decoding of a terminal's bytes.
@Suite("Keys")
struct KeyDecoderTests {
    private func keys(_ bytes: String) -> [Key] {
        var decoder = KeyDecoder()
        return decoder.received(Array(bytes.utf8))
    }

    @Test("characters, cursor keys of both kinds, enter, backspace")
    func known() {
        #expect(keys("a5ü🖨") == ["a", "5", "ü", "🖨"].map { .character($0) })
        #expect(keys("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D\u{1B}OA") == [.up, .down, .right, .left, .up])
        #expect(keys("\r\n\u{7F}\u{8}") == [.enter, .enter, .backspace, .backspace])
    }

    @Test("the mouse's left button, in columns and rows from 0")
    func mouse() {
        #expect(
            keys("\u{1B}[<0;1;1M\u{1B}[<0;80;24m") == [.pressed(column: 0, row: 0), .released(column: 79, row: 23)])
        #expect(keys("\u{1B}[<0;200;300M") == [.pressed(column: 199, row: 299)])
    }

    @Test("sequences that are not known are swallowed whole, and hostile ones do no harm")
    func unknown() {
        #expect(keys("\u{1B}[15~x\u{1B}[1;5Cy\u{1B}[<64;1;1Mz") == ["x", "y", "z"].map { .character($0) })
        #expect(keys("\u{1B}[<0;0;0M\u{1B}[<0;99999999999999999999;1M\u{1B}[<;;M\u{1B}[<0;1M") == [])
        var decoder = KeyDecoder()
        #expect(decoder.received([0x1B, 0x5B] + [UInt8](repeating: 0x30, count: 100_000)) == [])
        #expect(!decoder.isWaiting)
        #expect(decoder.received([0xFF, 0xC0, 0x80, 0xE2, 0x28, 0xA1, 0x61]).last == .character("a"))
    }

    @Test("in pieces of one byte; an escape alone is a key after a pause")
    func pieces() {
        var decoder = KeyDecoder()
        var keys: [Key] = []
        for byte in "\u{1B}[<0;5;6Mü".utf8 { keys += decoder.received([byte]) }
        #expect(keys == [.pressed(column: 4, row: 5), .character("ü")])
        #expect(decoder.received([0x1B]) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.paused() == [.escape])
        #expect(!decoder.isWaiting)
    }

    @Test("what is pasted is no key, whatever it contains, until the closing bracket, in pieces too")
    func pasted() {
        let bytes = Array("a\u{1B}[200~q\r\u{1B}[A\u{1B}é\u{1B}[201~q".utf8)
        let wanted: [Key] = [
            .character("a"), .pasted("q"), .pasted("["), .pasted("A"), .pasted("é"), .character("q"),
        ]
        var whole = KeyDecoder()
        #expect(whole.received(bytes) == wanted)
        var decoder = KeyDecoder()
        var keys: [Key] = []
        for byte in bytes { keys += decoder.received([byte]) }
        #expect(keys == wanted)
        // One that never ends is text for ever, and piles up nothing.
        #expect(decoder.received(Array("\u{1B}[200~".utf8) + [UInt8](repeating: 0x1B, count: 100_000)) == [])
        #expect(decoder.paused() == [])
        #expect(decoder.received(Array("q".utf8)) == [.pasted("q")])
    }

    @Test("a pause within a bracket of a paste: what is pasted is no key, and what comes after it is one")
    func bracketWithPause() {
        var closing = KeyDecoder()
        #expect(closing.received("\u{1B}[200~a\u{1B}[20".utf8) == [.pasted("a")])
        #expect(closing.paused() == [])
        #expect(closing.received("1~q".utf8) == [.character("q")])
        var opening = KeyDecoder()
        #expect(opening.received("\u{1B}[20".utf8) == [])
        // Nothing to wait for in haste.
        #expect(opening.paused() == [])
        #expect(!opening.isWaiting)
        #expect(opening.received("0~q".utf8) == [.pasted("q")])
        // Of another sequence the rest is dropped.
        var other = KeyDecoder()
        #expect(other.received("\u{1B}[1".utf8) == [])
        #expect(other.isWaiting)
        #expect(other.paused() == [])
        #expect(other.received("q".utf8) == [.character("q")])
    }

    @Test("keys with numbers, of xterm and rxvt")
    func numbered() {
        #expect(
            keys("\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~\u{1B}[H\u{1B}OF\u{1B}[200") == [
                .pageUp, .pageDown, .home, .end, .home, .end, .home, .end,
            ])
    }
}
