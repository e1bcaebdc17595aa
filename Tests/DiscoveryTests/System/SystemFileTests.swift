import DiscoverySystem
import Foundation
import Glibc
import Testing

@Suite("Files that are made")
struct SystemFileTests {
    private func inDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path(percentEncoded: false))
    }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test("a file is made where nothing is: no file is replaced, no link followed, and nothing else is left or removed")
    func create() throws {
        try inDirectory { directory in
            let path = directory + "/file"
            try Data("theirs".utf8).write(to: URL(filePath: path + ".new"))
            try SystemFile.requireAbsent(path)
            try SystemFile.create(path, with: [1])
            #expect(throws: SystemError(EEXIST, path)) { try SystemFile.requireAbsent(path) }
            #expect(throws: SystemError(EEXIST, path)) { try SystemFile.create(path, with: [2]) }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data([1]))
            let link = directory + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory + "/target")
            #expect(throws: SystemError(EEXIST, link)) { try SystemFile.requireAbsent(link) }
            #expect(throws: SystemError(EEXIST, link)) { try SystemFile.create(link, with: [2]) }
            #expect(try names(in: directory) == ["file", "file.new", "link"])
            #expect(try Data(contentsOf: URL(filePath: path + ".new")) == Data("theirs".utf8))
        }
    }

    @Test("a directory that is not there, or no directory, makes no file")
    func nowhere() throws {
        try inDirectory { directory in
            try Data().write(to: URL(filePath: directory + "/file"))
            for path in [directory + "/none/file", directory + "/file/file"] {
                #expect(throws: SystemError.self) { try SystemFile.requireAbsent(path) }
                #expect(throws: SystemError.self) { try SystemFile.create(path, with: [1]) }
            }
            #expect(try names(in: directory) == ["file"])
        }
    }

    @Test("what cannot take a file's place is not left beside it")
    func notReplaced() throws {
        try inDirectory { directory in
            let path = directory + "/directory"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(throws: SystemError.self) { try SystemFile.replace(path, with: [1]) }
            #expect(try names(in: directory) == ["directory"])
        }
    }
}
