import Foundation
import Testing

/// What `zone-template` prints, as the configuration of the servers themselves.
@Suite("zone-template", .labSlot)
struct ZoneTemplateTests {
    @Test(
        "the configuration that is printed lets a key publish, and nothing else",
        arguments: Everything.of(["bind", "knot", "powerdns"], inAChange: ["knot"]))
    func keyMayPublishAndNothingElse(_ server: String) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("lab/zone-template.sh").path
        let process = try LabProcess(
            ["/usr/bin/unshare", "--net", "/bin/bash", script, server, Built.discoverd], environment: [:])
        let exit = try await process.exit(within: .seconds(40))
        let lines = process.lines()
        #expect(exit == .exited(0), "\(process.lines(.stderr).suffix(5))")
        let allowed = lines.filter { $0.hasPrefix("may ") && !$0.hasPrefix("may not ") }
        let refused = lines.filter { $0.hasPrefix("may not ") }
        // Knot has one rule for a whole message: what a key may write somewhere, it may write wherever it may write at all.
        #expect(allowed.count == (server == "knot" ? 11 : 10) && allowed.count + refused.count == 18, "\(lines)")
        for words in ["_acme-challenge.home", "www.", "home.example.org 60 NS", "ns.home", "CNAME", "sub._tcp"] {
            #expect(refused.contains { $0.contains(words) }, "\(words)")
        }
    }
}
