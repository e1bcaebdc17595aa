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

    @Test("a publication that ends while another one begins on another link says goodbye on its own")
    func goodbyeBeforeAnotherLink() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        let goodbyes = try await lab.goodbyes(of: "_moves._tcp", on: "h2")
        try await run("MovingPublicationTests", in: lab, ["LAB_TWO_LINKS=1"], passing: "saysGoodbye")
        try await goodbyes.wait(for: ["first"], silence: .seconds(3))
        try await lab.stop()
    }

    private func run(_ suite: String, _ part: Int, in lab: Lab, _ environment: [String]) async throws {
        let part = "LAB_PART=\(part)/\(Self.parts.count)"
        try await run(suite, in: lab, [part] + environment, passing: "conforms")
        try await lab.stop()
    }

    /// - Parameter test: the function's name, as its success is told.
    private func run(_ suite: String, in lab: Lab, _ environment: [String], passing test: String) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try lab.exec(
            "h1",
            ["/usr/bin/env"] + environment + [program, "--testing-library", "swift-testing", "--filter", suite])
        let exit = try await tests.exit(within: .seconds(300))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains(test) && $0.contains("passed") }, "\(all.suffix(20))")
    }
}
