import FileDropCore
import Testing

@Suite("Paths from another machine")
struct RelativePathTests {
    @Test(
        "a path that leaves the folder, or is invalid, is refused",
        arguments: ["", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a/./b", "a//b", "a/", "a\0b"])
    func outside(_ path: String) { refuses(path.utf8, .outside) }

    @Test(
        "no name begins with a dot, however deep: programs read such files of themselves",
        arguments: [
            ".bashrc", ".ssh/authorized_keys", "proj/.git/hooks/post-commit", "a/b/.profile", "a/.filedrop-x.part",
        ])
    func hidden(_ path: String) { refuses(path.utf8, .hidden) }

    @Test("no name begins with a dash: a pattern of the shell makes an option of it", arguments: ["-rf", "a/--to=x"])
    func option(_ path: String) { refuses(path.utf8, .option) }

    @Test(
        "names are text without control characters, newlines, and characters that reorder a line",
        arguments: [
            "a\nb", "a\rb", "esc\u{1B}[2Jx", "a\tb", "a\u{7F}", "\u{9B}31m", "a\u{2028}b", "a\u{202E}gpj.exe",
            "\u{FEFF}a",
            "a\u{2066}b", "a\u{FFFF}", "a\u{E0041}",
        ])
    func unsafe(_ path: String) { refuses(path.utf8, .unsafe) }

    @Test("bytes that are no UTF-8 are no text")
    func bytes() { refuses([0x61, 0xFF], .unsafe) }

    @Test(
        "paths that are too long are refused",
        arguments: [
            String(repeating: "x", count: 256), String(repeating: "a/", count: 64) + "a",
            String(repeating: "abcdefg/", count: 600) + "a",
        ])
    func tooLong(_ path: String) { refuses(path.utf8, .tooLong) }

    private func refuses(_ bytes: some Sequence<UInt8>, _ problem: RelativePath.Problem) {
        #expect(throws: problem) { try RelativePath(checking: bytes) }
    }

    @Test(
        "names may be any other text",
        arguments: [
            "a", "a/b/c", "a b", "\u{FC}", "it's (1).txt", "\u{1F469}\u{200D}\u{1F680}.jpg", "a.b-c", "\\u{41}",
        ])
    func accepted(_ path: String) throws {
        #expect(try RelativePath(checking: path.utf8).bytes == Array(path.utf8))
    }

    @Test("a name made of any text is one name that is safe")
    func cleaning() {
        #expect(RelativePath(cleaning: "../../etc/passwd").text == "_.._etc_passwd")
        #expect(RelativePath(cleaning: "a/b\0c\n").text == "a_b_c_")
        #expect(RelativePath(cleaning: "...").text == "download")
        #expect(RelativePath(cleaning: "-rf\u{202E}").text == "rf_")
        #expect(RelativePath(cleaning: String(repeating: "\u{FC}", count: 200)).name.count <= 255)
        for text in ["a\u{1B}[2J", "..\n", "--", String(repeating: "\u{1F680}", count: 100)] {
            #expect(RelativePath(RelativePath(cleaning: text).bytes) != nil, "\(text)")
        }
    }
}
