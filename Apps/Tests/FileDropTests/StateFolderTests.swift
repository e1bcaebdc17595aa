import FileDropCore
import Foundation
import Testing

@Suite("Where filedrop keeps what must outlive it")
struct StateFolderTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "filedrop-\(UUID().uuidString)").path
    private var format: String { "\(path)/format" }

    @Test("a new folder says its format; one without is of the first")
    func first() throws {
        _ = try OriginKey(in: StateFolder(path))
        #expect(try String(contentsOfFile: format, encoding: .utf8) == "1\n")
        try FileManager.default.removeItem(atPath: format)
        _ = try OriginKey(in: StateFolder(path))
    }

    @Test("a folder of a newer version is refused, and stays as it is", arguments: ["2\n", "0\n", "-1\n", "x", ""])
    func newer(_ said: String) throws {
        _ = try StateFolder(path)
        try said.write(toFile: format, atomically: true, encoding: .utf8)
        let failure = #expect(throws: StateFolder.Failure.self) { try StateFolder(path) }
        #expect(failure?.isNewer == true)
        #expect(try String(contentsOfFile: format, encoding: .utf8) == said)
    }

    @Test("a format that is no file is not taken for none")
    func folder() throws {
        _ = try StateFolder(path)
        try FileManager.default.createDirectory(atPath: format, withIntermediateDirectories: false)
        let failure = #expect(throws: StateFolder.Failure.self) { try StateFolder(path) }
        #expect(failure?.isNewer == true)
    }
}
