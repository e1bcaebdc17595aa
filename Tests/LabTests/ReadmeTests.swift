import Foundation
import Testing

/// What the README shows is what the programs print.
@Suite("the README", .labSlot)
struct ReadmeTests {
    private static let configuration = "/etc/discoverd"

    /// The lines of the block with a line, after that line.
    private func block(after line: String) throws -> [String] {
        let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md")
        let lines = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "\n")
        return Array(lines.drop { $0 != line }.dropFirst().prefix { $0 != "```" })
    }

    @Test("a configuration with a slip, and its errors")
    func errors() async throws {
        let file = "services.d/web.yaml"
        let parts = try block(after: "# cat \(Self.configuration)/\(file)").split(
            separator: "# discoverd daemon --check")
        try #require(parts.count == 2)
        let folder = FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "services.d"), withIntermediateDirectories: true)
        try Data((parts[0].joined(separator: "\n") + "\n").utf8).write(to: folder.appending(path: file))
        let run = try await BareHost.discoverd(
            ["daemon", "--check", "--config", folder.path], within: .seconds(30))
        #expect(run.exit == .exited(78))
        #expect(run.errors.map { $0.replacing(folder.path, with: Self.configuration) } == Array(parts[1]))
    }
}
