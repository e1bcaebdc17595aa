import Foundation
import Testing

/// What a validating resolver says of a signed zone, and who is believed.
@Suite("DNSSEC", .labSlot)
struct DNSSECTests {
    @Test("`authenticated` is told from a resolver on loopback or with trust-ad, and from no other", .labLong)
    func authenticated() async throws {
        let dns = try await DNSLab.start(.bind, .unbound, .validator)
        let publisher = try dns.lab.discoverd(
            "h1", "publish", "tony", "9000", "--domain", "signed.example.org", "--key", "/run/dns/keys/pub.key",
            "--json")
        try await publisher.json("established") { $0.state == "established" }
        let rows: [(host: String, resolver: [String], isBelieved: Bool)] = [
            ("h2", ["nameserver 127.0.0.1"], true),
            ("h3", ["nameserver 10.53.0.4"], false),
            ("h3", ["nameserver 10.53.0.4", "options trust-ad"], true),
            // It does not validate.
            ("h3", ["nameserver 10.53.0.1", "options trust-ad"], false),
        ]
        for row in rows {
            try await dns.resolv(row.host, row.resolver)
            for way in [["resolve", "tony", "_witap._tcp"], ["browse", "_witap._tcp", "-r", "-t"]] {
                let run = try await dns.lab.toEnd(
                    row.host, [Built.discoverd] + way + ["--json", "--domain", "signed.example.org"],
                    within: .seconds(15))
                #expect(run.exit == .exited(0), "\(row) \(run.errors)")
                let service = run.output.first { $0.contains(#""host":"#) }
                #expect(service?.contains(#""authenticated":true"#) == row.isBelieved, "\(row) \(way) \(run.output)")
            }
        }
        try await dns.resolv("h3", ["nameserver 10.53.0.4", "options trust-ad"])
        try await dns.settings("h3", "domains:", "  - {name: signed.example.org}")
        let daemon = try LabDaemon(dns.lab, "h3", socket: LabDaemon.systemSocket)
        try daemon.configure("domains: [{name: signed.example.org}]")
        try await daemon.start()
        let run = try await dns.lab.ask(
            "h3", "resolve", "tony", "_witap._tcp", "--json", "--domain", "signed.example.org")
        #expect(run.output.first?.contains(#""authenticated":true"#) == true, "\(run)")
        try await daemon.stop()
        try await publisher.stop()
        try await dns.stop()
    }
}
