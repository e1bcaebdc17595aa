import AppSupport
import FileDropCore
import Foundation
import Testing

/// Files and folders in a folder of the test's own.
@Suite("Files that are received")
final class IncomingFileTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "filedrop-\(UUID().uuidString)")
    private var path: String { root.path(percentEncoded: false) }
    private let target: TargetFolder

    init() throws { target = try TargetFolder(root.path(percentEncoded: false)) }

    deinit { try? FileManager.default.removeItem(at: root) }

    private func entry(_ path: String, _ content: String) throws -> Entry {
        Entry(
            path: try #require(RelativePath(path.utf8)), kind: .file, size: Int64(content.utf8.count),
            modified: 1_700_000_000, isExecutable: false)
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: name), encoding: .utf8)
    }

    private var names: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }
    }

    @Test("a file has its name only when it is complete, with the time it had")
    func complete() throws {
        let file = try IncomingFile(in: target, resuming: entry("a/b.txt", "hello"))
        try file.append(Array("hello".utf8))
        #expect(try !names.contains("a/b.txt"))
        try file.commit(modified: 1_700_000_000)
        #expect(try names == ["a", "a/b.txt"])
        #expect(try content("a/b.txt") == "hello")
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/a/b.txt")
        #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test("what is thrown away, or forgotten, leaves nothing")
    func discarded() throws {
        let file = try IncomingFile(in: target, resuming: entry("a", "hello"))
        try file.append([1, 2])
        file.discard()
        #expect(try names.isEmpty)
        do { try IncomingFile(in: target, path: #require(RelativePath("b".utf8))).append([1]) }
        #expect(try names.isEmpty)
    }

    @Test("what nobody went on with for 7 days goes; a file that is being received, and everything else, stays")
    func leftovers() throws {
        for name in ["old/deep/file", "busy"] {
            let file = try IncomingFile(in: target, resuming: entry(name, "hello"))
            try file.append([1])
            file.keep()
        }
        let busy = try IncomingFile(in: target, resuming: entry("busy", "hello"))
        for name in ["file.part", ".filedrop-x"] { try Data([1]).write(to: root.appending(path: name)) }
        try FileManager.default.createSymbolicLink(
            atPath: path + "/.filedrop-link.part", withDestinationPath: "file.part")
        let now = Int(Date().timeIntervalSince1970)
        #expect(Leftovers(removingIn: target, now: now + Leftovers.lifetime - 60).removed == 0)
        #expect(Leftovers(removingIn: target, now: now + Leftovers.lifetime + 60).removed == 1)
        let rest = try names
        #expect(rest.count == 6 && rest.suffix(3) == ["file.part", "old", "old/deep"], "\(rest)")
        busy.discard()
    }

    @Test("another attempt goes on where the first broke off; another file of that name does not")
    func resumed() throws {
        let entry = try entry("a", "hello")
        do {
            let file = try IncomingFile(in: target, resuming: entry)
            try file.append(Array("hel".utf8))
            file.keep()
        }
        var other = entry
        other.modified += 1
        #expect(try IncomingFile(in: target, resuming: other).count == 0)
        let file = try IncomingFile(in: target, resuming: entry)
        #expect(file.count == 3)
        var checksum = Checksum()
        checksum.update(Array("hel".utf8))
        #expect(file.digest == checksum.digest)
        try file.append(Array("lo".utf8))
        try file.commit()
        #expect(try names == ["a"])
        #expect(try content("a") == "hello")
    }

    @Test("the same file twice at a time is refused")
    func twice() throws {
        let entry = try entry("a", "hello")
        let first = try IncomingFile(in: target, resuming: entry)
        #expect(throws: FileFailure.self) { try IncomingFile(in: self.target, resuming: entry) }
        try first.append(Array("hello".utf8))
        try first.commit()
        #expect(try content("a") == "hello")
    }

    @Test("no file is replaced: the second gets another name")
    func taken() throws {
        for text in ["one", "two"] {
            let file = try IncomingFile(in: target, resuming: entry("a.txt", text))
            try file.append(Array(text.utf8))
            try file.commit()
        }
        #expect(try content("a.txt") == "one")
        #expect(try content("a (2).txt") == "two")
    }

    @Test("a symbolic link in the folder is not followed: neither on the way, nor as the file")
    func links() throws {
        let files = FileManager.default
        let outside = files.temporaryDirectory.appending(path: "filedrop-outside-\(UUID().uuidString)")
        try files.createDirectory(at: outside, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: outside) }
        try files.createSymbolicLink(at: root.appending(path: "way"), withDestinationURL: outside)
        let victim = outside.appending(path: "victim")
        try Data("old".utf8).write(to: victim)
        try files.createSymbolicLink(at: root.appending(path: "file"), withDestinationURL: victim)

        #expect(throws: FileFailure.self) { try IncomingFile(in: self.target, resuming: self.entry("way/x", "new")) }
        #expect(throws: FileFailure.self) { try self.target.makeFolder(#require(RelativePath("way/y".utf8))) }
        let file = try IncomingFile(in: target, resuming: entry("file", "new"))
        try file.append(Array("new".utf8))
        try file.commit()
        #expect(try String(contentsOf: victim, encoding: .utf8) == "old")
        #expect(try content("file (2)") == "new")
        #expect(try files.contentsOfDirectory(atPath: outside.path(percentEncoded: false)) == ["victim"])
        #expect(try ExistingFile.digest(of: entry("file", "old"), in: target) == nil)
    }

    @Test("a file that is there already is known by its checksum; a FIFO holds nobody up")
    func existing() throws {
        try Data("hello".utf8).write(to: root.appending(path: "a"))
        var checksum = Checksum()
        checksum.update(Array("hello".utf8))
        #expect(try ExistingFile.digest(of: entry("a", "hello"), in: target) == checksum.digest)
        #expect(try ExistingFile.digest(of: entry("a", "hello!"), in: target) == nil)
        #expect(mkfifo(path + "/pipe", 0o600) == 0)
        #expect(try ExistingFile.digest(of: entry("pipe", ""), in: target) == nil)
    }
}
