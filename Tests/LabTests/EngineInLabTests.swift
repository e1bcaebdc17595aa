import Foundation
import Testing

/// The conformance suite in parts, each on a host of its own: its checks come one after another, and most of them wait.
///
/// A process with threads cannot enter a namespace, so the engine's tests run in a new process on a host.
@Suite("the engine in the lab", .labSlot)
struct EngineInLabTests {
    private static let parts = 0..<4

    @Test("AvahiEngine passes the conformance suite", .labLong, arguments: parts)
    func conformance(part: Int) async throws {
        try await run("AvahiConformanceTests", part, in: try await Lab.start(hosts: 1), [])
    }

    @Test("so does the wire, beside avahi-daemon, which publishes", .labLong, arguments: parts)
    func wireConformance(part: Int) async throws {
        try await run("WireConformanceTests", part, in: try await Lab.start(hosts: 1), [])
    }

    @Test("so does the wire alone, which publishes, too", .labLong, arguments: parts)
    func wireAloneConformance(part: Int) async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        try await run("WireAloneConformanceTests", part, in: lab, ["LAB_BARE_HOST=1"])
    }

    private func run(_ suite: String, _ part: Int, in lab: Lab, _ environment: [String]) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try lab.exec(
            "h1",
            ["/usr/bin/env", "LAB_PART=\(part)/\(Self.parts.count)"] + environment + [
                program, "--testing-library", "swift-testing", "--filter", suite,
            ])
        let exit = try await tests.exit(within: .seconds(300))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains("conforms") && $0.contains("passed") }, "\(all.suffix(20))")
        try await lab.stop()
    }
}
