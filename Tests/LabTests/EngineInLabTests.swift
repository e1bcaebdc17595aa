import Foundation
import Testing

/// A test process cannot enter a namespace once it has threads, so the engine's own tests are run again, on a host.
@Suite("the engine in the lab", .labSlot)
struct EngineInLabTests {
    @Test("AvahiEngine passes the conformance suite", .labLong)
    func conformance() async throws {
        let lab = try await Lab.start(hosts: 1)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try lab.exec(
            "h1", program, "--testing-library", "swift-testing", "--filter", "AvahiConformanceTests")
        let exit = try await tests.exit(within: .seconds(170))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains("conforms") && $0.contains("passed") }, "\(all.suffix(20))")
        try await lab.stop()
    }
}
