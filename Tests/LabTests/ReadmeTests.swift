import Foundation
import Testing

/// What the README shows is what the programs print.
@Suite("the README", .labSlot)
struct ReadmeTests {
    private static let configuration = "/etc/discoverd"

    @Test("a configuration with a slip, and its errors")
    func errors() async throws {
        let file = "services.d/web.yaml"
        let parts = try ProjectDocument("README.md").block(after: "# cat \(Self.configuration)/\(file)").split(
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
