import Testing

@testable import CommandText

@Suite("widths on a terminal")
struct DisplayWidthTests {
    @Test(
        "columns as terminals show them",
        arguments: [
            ("tony", 4), ("Müller", 6), ("東京", 4), ("🎉", 2), ("e\u{301}", 1), ("ｗｉｄｅ", 8), ("한국", 4), ("❤️", 2),
            ("🇩🇪", 2),
            ("\u{1100}\u{1161}", 2), ("…", 1), ("", 0), ("☎", 1), ("✅", 2), ("\u{1FAE8}", 2),
        ])
    func columns(_ text: String, _ columns: Int) { #expect(DisplayWidth.of(text) == columns, "\(text)") }

    @Test("text that fits is unchanged; longer text ends with … and fits")
    func fitting() {
        #expect("tony".fitted(to: 4) == "tony")
        #expect("tonys".fitted(to: 4) == "ton…")
        #expect("東京タワー".fitted(to: 5) == "東京…")
        #expect("東京タワー".fitted(to: 6) == "東京…")
        #expect("tonys".fitted(to: 4, isUTF8: false) == "t...")
        #expect("tony".fitted(to: 1) == "…" && "tony".fitted(to: 0) == "")
        for text in ["🎉🎉🎉🎉", "a東b京c", "e\u{301}e\u{301}e\u{301}", "❤️❤️❤️"] {
            for width in 1...8 {
                let fitted = text.fitted(to: width)
                #expect(DisplayWidth.of(fitted) <= width, "\(fitted)")
                #expect(DisplayWidth.of(fitted.padded(to: width)) == width)
            }
        }
    }

    @Test("the end of a text that fits; wide characters take two columns")
    func tail() {
        #expect("abcdef".tail(columns: 3) == "def")
        #expect("\u{6F22}\u{5B57}".tail(columns: 3) == "\u{5B57}")
        #expect("ab".tail(columns: 10) == "ab")
        #expect("❤️e\u{301}".tail(columns: 1) == "e\u{301}" && "❤️".tail(columns: 1).isEmpty)
    }

    @Test("a flood of marks upon one letter is bounded")
    func marks() {
        let flood = "a" + String(repeating: "\u{301}", count: 500)
        let fitted = flood.fitted(to: 20)
        #expect(fitted.unicodeScalars.count { $0.value == 0x301 } == 4)
        #expect(DisplayWidth.of(fitted) == 20 && fitted.utf8.count < 40)
    }

    @Test("without UTF-8 there is ASCII only")
    func ascii() {
        #expect("Müller".tamed(isUTF8: false) == #"M\u{FC}ller"#)
        #expect("東京🎉".fitted(to: 9, isUTF8: false) == #"\u{677..."#)
    }
}

@Suite("columns of a table")
struct ColumnLayoutTests {
    static let columns: [ColumnLayout.Column] = [
        .init("NAME", 8, upTo: 30, weight: 3), .init("TYPE", 6, upTo: 16), .init("PORT", 5), .init("TXT", 6, upTo: 500),
    ]

    @Test("every line fits, at every width", arguments: 1...200)
    func fits(_ width: Int) {
        let layout = ColumnLayout(Self.columns, in: width)
        let fields = [
            "Tony's 東京 printer with a long name", "_x-SNSDownload._tcp", "65535", String(repeating: "🎉", count: 300),
        ]
        for line in [
            layout.header(isUTF8: true), layout.line(fields, isUTF8: true), layout.line(fields, isUTF8: false),
        ] {
            #expect(DisplayWidth.of(line) < max(2, width), "\(line)")
            #expect(!line.hasSuffix(" "))
        }
    }

    @Test("columns begin where their titles do")
    func aligned() {
        let layout = ColumnLayout(Self.columns, in: 80)
        let header = layout.header(isUTF8: true)
        for name in ["tony", "東京", "🎉🎉", "e\u{301}", "Tony's long-named thing in the attic, second from left"] {
            let line = layout.line([name, "_http._tcp", "80", "x"], isUTF8: true)
            let start = line.firstRange(of: "_http")
            let before = start.map { DisplayWidth.of(line[..<$0.lowerBound]) }
            #expect(
                before == header.firstRange(of: "TYPE").map { DisplayWidth.of(header[..<$0.lowerBound]) }, "\(line)")
        }
    }

    @Test("on a wide terminal columns get what they can use, and the last one the rest")
    func wide() {
        let layout = ColumnLayout(Self.columns, in: 200)
        #expect(layout.widths == [30, 16, 5, 145])
    }

    @Test("text is broken at blanks, a long word anywhere; what is beside each other stays so")
    func wrapped() {
        #expect("one two three".wrapped(to: 7) == ["one two", "three"])
        #expect("a  b".wrapped(to: 10) == ["a  b"] && "".wrapped(to: 3) == [""])
        #expect("one  two  three".wrapped(to: 8) == ["one  two", "three"])
        #expect("one  two  three".wrapped(to: 5) == ["one", "two", "three"])
        #expect("abcdefg h".wrapped(to: 3) == ["abc", "def", "g h"])
        #expect("漢字漢字".wrapped(to: 5) == ["漢字", "漢字"])
    }
}
