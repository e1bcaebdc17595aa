import Foundation
import Testing

/// The manual says what `--help` does: docs/man/from-help makes both of one source.
struct ManualTests {
    private static let pages = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/man")

    @Test("Each page is as the built programs make it (make man)")
    func pages() async throws {
        let fresh = FileManager.default.temporaryDirectory.appending(path: "discoverd-man-\(UUID())")
        try FileManager.default.createDirectory(at: fresh, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: fresh) }
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
        let built = URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            let maker = Process()
            maker.executableURL = Self.pages.appending(path: "from-help")
            maker.arguments = [built.appending(path: "discoverd").path, fresh.path]
            maker.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try maker.run() } catch { ended.resume(throwing: error) }
        }
        #expect(status == 0)
        let made = try FileManager.default.contentsOfDirectory(atPath: fresh.path).sorted()
        let kept = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path).filter {
            $0.hasPrefix("discoverd") && !$0.hasSuffix(".5")
        }
        #expect(made == kept.sorted())
        for name in made {
            let (old, new) = (Self.pages.appending(path: name), fresh.appending(path: name))
            #expect(FileManager.default.contentsEqual(atPath: old.path, andPath: new.path), "\(name): make man")
        }
    }

    @Test("It tells no truth of an earlier edition: a goodbye is told after 4.2 s through avahi-daemon's cache alone")
    func claims() throws {
        let text = try String(contentsOf: Self.pages.appending(path: "text/browse"), encoding: .utf8)
        for range in text.ranges(of: "4.2 s") {
            #expect(text[..<range.lowerBound].suffix(60).contains("avahi-daemon(8) finds"))
        }
    }
}
