import FileDropCore
import Testing

@Suite("Paths from another machine")
struct RelativePathTests {
    @Test(
        "a path that leaves the folder, or is none, is refused",
        arguments: [
            "", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a/./b", "a//b", "a/", "a\0b", ".bashrc",
            ".ssh/authorized_keys", String(repeating: "x", count: 256), String(repeating: "a/", count: 64) + "a",
            String(repeating: "abcdefg/", count: 600) + "a",
        ])
    func refused(_ path: String) { #expect(RelativePath(path.utf8) == nil) }

    @Test("names may be any other bytes", arguments: ["a", "a/b/c", "a/.git/x", "a b", "a\u{1B}[2J", "\u{FC}"])
    func accepted(_ path: String) throws {
        #expect(try #require(RelativePath(path.utf8)).bytes == Array(path.utf8))
    }

    @Test("bytes that are no UTF-8 stay as they are")
    func bytes() throws {
        #expect(try #require(RelativePath([0x61, 0xFF])).name == [0x61, 0xFF])
    }

    @Test("a name made of any text is one name that is safe")
    func cleaning() {
        #expect(RelativePath(cleaning: "../../etc/passwd").text == "_.._etc_passwd")
        #expect(RelativePath(cleaning: "a/b\0c\n").text == "a_b_c_")
        #expect(RelativePath(cleaning: "...").text == "download")
        #expect(RelativePath(cleaning: String(repeating: "\u{FC}", count: 200)).name.count <= 255)
    }

    @Test("further names for a file whose own is taken")
    func attempts() throws {
        let path = try #require(RelativePath("x/photo.jpg".utf8))
        #expect(path.name(attempt: 1) == Array("photo.jpg".utf8))
        #expect(path.name(attempt: 2) == Array("photo (2).jpg".utf8))
        #expect(try #require(RelativePath("README".utf8)).name(attempt: 3) == Array("README (3)".utf8))
        let long = try #require(RelativePath((String(repeating: "x", count: 251) + ".jpg").utf8))
        #expect(long.name(attempt: 12).count == 255)
        #expect(long.name(attempt: 12).suffix(9) == Array(" (12).jpg".utf8)[...])
    }
}
