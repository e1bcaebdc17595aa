import Foundation
import Testing

/// The engine's tests run in a new process on a host: a process with threads cannot enter a namespace.
@Suite("the engine of DNS servers in the lab", .labSlot)
struct ZoneConformanceInLabTests {
    @Test(
        "UnicastEngine passes the conformance suite in a zone of BIND", .labLong,
        arguments: [("all", "ZoneConformanceTests"), ("restarting", "ZoneRestartConformanceTests")])
    func conformance(_ part: String, _ suite: String) async throws {
        let dns = try await DNSLab.start(.bind, .unbound)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try dns.lab.exec(
            "h1",
            [
                "/usr/bin/env", "ZONE_LAB=\(part)", program, "--testing-library", "swift-testing", "--filter",
                "UnicastEngineTests.\(suite)",
            ])
        let exit = try await tests.exit(within: .seconds(200))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains("conforms") && $0.contains("passed") }, "\(all.suffix(20))")
        try await dns.stop()
    }
}
