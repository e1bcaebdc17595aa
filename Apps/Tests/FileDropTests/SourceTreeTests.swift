import AppSupport
import CommandFrame
import FileDropCore
import Foundation
import Testing

@Suite("Files that are sent")
final class SourceTreeTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "filedrop-\(UUID().uuidString)")
    private var path: String { root.path(percentEncoded: false) }

    init() throws {
        let files = FileManager.default
        try files.createDirectory(at: root.appending(path: "tree/inner"), withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: root.appending(path: "tree/inner/b"))
        try Data().write(to: root.appending(path: "tree/a"))
        try files.createSymbolicLink(atPath: path + "/tree/link", withDestinationPath: "/etc/passwd")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    @Test("a folder comes before its contents; links inside are left out, and reported")
    func folder() throws {
        let tree = try SourceTree([path + "/tree/"])
        #expect(tree.items.map(\.entry.path.text) == ["tree", "tree/a", "tree/inner", "tree/inner/b"])
        #expect(tree.items.map(\.entry.kind) == [.folder, .file, .folder, .file])
        #expect(tree.bytes == 5)
        #expect(tree.onlyFile == nil)
        #expect(tree.leftOut == ["\(path)/tree/link is neither a file nor a folder: left out"])
    }

    @Test("one file is the only one, and a named link stands for its target")
    func file() throws {
        #expect(try SourceTree([path + "/tree/inner/b"]).onlyFile?.entry.path.text == "b")
        #expect(try SourceTree([path + "/tree/link"]).onlyFile?.entry.path.text == "link")
    }

    @Test("a missing file is an error with its own status")
    func missing() {
        let error = #expect(throws: CommandError.self) { try SourceTree([self.path + "/none"]) }
        #expect(error?.status == .noInput)
    }

    @Test("names that a receiver would refuse are left out and named; the rest goes on")
    func hidden() throws {
        for name in [".git", "inner/.env", "inner/-rf", "inner/a\nb"] {
            try Data([1]).write(to: root.appending(path: "tree/\(name)"))
        }
        try Data([1]).write(to: root.appending(path: ".bashrc"))
        let tree = try SourceTree([path + "/tree", path + "/.bashrc"])
        #expect(tree.items.map(\.entry.path.text) == ["tree", "tree/a", "tree/inner", "tree/inner/b"])
        #expect(
            tree.leftOut == [
                "\(path)/tree/.git has a name that begins with a dot: left out",
                "\(path)/tree/inner/-rf has a name that begins with a dash: left out",
                "\(path)/tree/inner/.env has a name that begins with a dot: left out",
                "\(path)/tree/inner/a\\u{A}b has a name with characters that are no text: left out",
                "\(path)/tree/link is neither a file nor a folder: left out",
                "\(path)/.bashrc has a name that begins with a dot: left out",
            ])
        let none = #expect(throws: CommandError.self) { try SourceTree([self.path + "/.bashrc"]) }
        #expect(none?.status == .usage)
    }

    @Test("one place has one origin, however it is named; other places and other keys have others")
    func origins() throws {
        let key = OriginKey()
        let tree = try SourceTree([path + "/tree"], key: key)
        #expect(Set(tree.items.map(\.entry.origin)).count == 1)
        let again = try SourceTree([path + "/tree/inner/.."], key: key)
        #expect(again.items.first?.entry == tree.items.first?.entry)
        let others = [try SourceTree([path + "/tree/inner"], key: key), try SourceTree([path + "/tree"])]
        for other in others { #expect(other.items.first?.entry.origin != tree.items.first?.entry.origin) }
    }

    @Test("skipped bytes are read for their checksum; then reading continues after them, or starts again")
    func skip() throws {
        var checksum = Checksum()
        checksum.update(Array("hel".utf8))
        let file = try SourceFile(path + "/tree/inner/b")
        #expect(try !file.skip(to: 3))
        #expect(file.digest == checksum.digest)
        #expect(try file.read() == Array("lo".utf8))
        checksum.update(Array("lo".utf8))
        #expect(file.digest == checksum.digest)
        try file.restart()
        #expect(try !file.skip(to: .max))
        #expect(file.count == 5)
        try file.restart()
        #expect(try file.read() == Array("hello".utf8))
    }

    @Test("a file that became shorter is not sent as if it were whole")
    func shorter() throws {
        let file = try SourceFile(path + "/tree/inner/b")
        #expect(truncate(path + "/tree/inner/b", 2) == 0)
        _ = try file.read()
        #expect(throws: FileFailure.self) { try file.read() }
    }
}
