import Foundation
import Testing

/// DNSClient's tests beside real servers run in a new process on a host: a process with threads cannot enter a namespace.
@Suite("DNS servers in the lab", .labSlot)
struct DNSClientInLabTests {
    @Test("DNSClient beside BIND, Knot, PowerDNS and resolvers", .onlyInAll, .labLong)
    func client() async throws {
        let lab = try await DNSLab.start(.bind, .knot, .powerdns, .unbound, .dnsmasq, .resolver)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tests = try lab.lab.exec(
            "h1",
            ["/usr/bin/env", "DNS_LAB=1", program, "--testing-library", "swift-testing", "--filter", "DNSServerTests"])
        let exit = try await tests.exit(within: .seconds(120))
        let all = tests.lines() + tests.lines(.stderr)
        let issues = all.filter { $0.contains("✘") || $0.contains("↳") }
        #expect(exit == .exited(0), "\(issues.joined(separator: "\n"))")
        // A suite that was skipped passes too.
        #expect(all.contains { $0.contains("DNS servers") && $0.contains("passed") }, "\(all.suffix(20))")
        try await lab.stop()
    }
}
