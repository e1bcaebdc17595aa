import Foundation
import Testing

/// Serialized: each test publishes a thousand services, which occupies a processor.
///
/// A process with threads cannot enter a namespace, so the engine's tests run in a new process on a host.
@Suite("the engine in the lab", .labSlot, .serialized)
struct EngineInLabTests {
    @Test("AvahiEngine passes the conformance suite", .labLong)
    func conformance() async throws {
        try await run("AvahiConformanceTests", in: try await Lab.start(hosts: 1), [])
    }

    @Test("so does the wire, beside avahi-daemon, which publishes", .labLong)
    func wireConformance() async throws {
        try await run("WireConformanceTests", in: try await Lab.start(hosts: 1), [])
    }

    @Test("so does a private backend", .labLong)
    func privateConformance() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        try await run(
            "PrivateConformanceTests", in: lab,
            ["/usr/bin/env", "LAB_BARE_HOST=1", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"])
    }

    private func run(_ suite: String, in lab: Lab, _ environment: [String]) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try lab.exec(
            "h1", environment + [program, "--testing-library", "swift-testing", "--filter", suite])
        let exit = try await tests.exit(within: .seconds(300))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains("conforms") && $0.contains("passed") }, "\(all.suffix(20))")
        try await lab.stop()
    }
}
