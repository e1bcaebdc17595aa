import AppSupport
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

    @Test("a folder comes before what is in it; links within are left out, and that is said")
    func folder() throws {
        let tree = try SourceTree([path + "/tree/"])
        #expect(tree.items.map(\.entry.path.text) == ["tree", "tree/a", "tree/inner", "tree/inner/b"])
        #expect(tree.items.map(\.entry.kind) == [.folder, .file, .folder, .file])
        #expect(tree.bytes == 5)
        #expect(tree.onlyFile == nil)
        #expect(tree.leftOut == ["\(path)/tree/link is neither a file nor a folder: left out"])
    }

    @Test("one file is the only one, and a link that is named is what it points to")
    func file() throws {
        #expect(try SourceTree([path + "/tree/inner/b"]).onlyFile?.entry.path.text == "b")
        #expect(try SourceTree([path + "/tree/link"]).onlyFile?.entry.path.text == "link")
    }

    @Test("what is not there is an error of its own status")
    func missing() {
        let error = #expect(throws: AppError.self) { try SourceTree([self.path + "/none"]) }
        #expect(error?.status == .noInput)
    }

    @Test("sending goes on only after the same bytes")
    func skip() throws {
        var checksum = Checksum()
        checksum.update(Array("hel".utf8))
        let file = try SourceFile(path + "/tree/inner/b")
        #expect(try file.skip(3, digest: checksum.digest))
        #expect(try file.read() == Array("lo".utf8))
        let other = try SourceFile(path + "/tree/inner/b")
        #expect(try !other.skip(2, digest: checksum.digest))
        #expect(try !other.skip(.max, digest: checksum.digest))
        #expect(try other.read() == Array("hello".utf8))
        #expect(try other.read().isEmpty)
        checksum.update(Array("lo".utf8))
        #expect(other.digest == checksum.digest && file.digest == checksum.digest)
    }

    @Test("a file that became shorter is not sent as if it were whole")
    func shorter() throws {
        let file = try SourceFile(path + "/tree/inner/b")
        #expect(truncate(path + "/tree/inner/b", 2) == 0)
        _ = try file.read()
        #expect(throws: FileFailure.self) { try file.read() }
    }
}
