import Foundation
import Testing

/// The example of docs/beyond-link.md, as it is compiled.
@Suite("HelloZone", .labSlot)
struct HelloZoneTests {
    @Test("publishes in a zone, finds itself there, and leaves the zone as it was")
    func example() async throws {
        let dns = try await DNSLab.start(.bind, .unbound)
        let (zone, address) = ("wide.example.org", "10.53.0.53")
        let before = try await dns.transfer(zone, from: address)
        let hello = try dns.lab.exec("h1", [Built.program("HelloZone"), zone, "/run/dns/keys/wide.key"])
        #expect(try await hello.exit(within: .seconds(30)) == .exited(0), "\(hello.lines(.stderr))")
        #expect(hello.lines().first == "published as hello")
        #expect(hello.lines().contains { $0.contains("hello") && $0.contains("10.53.1.2:9000") }, "\(hello.lines())")
        #expect(try await dns.transfer(zone, from: address) == before)
        try await dns.stop()
    }
}
