import Foundation
import Glibc
import Testing

/// A zone's server that goes away, and one that comes back with an older zone.
@Suite("A zone's server fails", .labSlot)
struct ZoneServerTests {
    @Test(
        "away for longer than the lease: published as before, who browses saw nothing go, and status answers meanwhile",
        .labLong, arguments: ZoneTests.Zone.allCases)
    func away(_ zone: ZoneTests.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let daemon = try LabDaemon(dns.lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure(
            """
            domains:
              - {name: \(zone.name), key: \(ZoneTests.key), lease: 10s, ttl: 5s}
            services:
              - {name: tony, type: _witap._tcp, port: 9000, domain: \(zone.name)}
            """)
        try await daemon.start()
        _ = try await daemon.curl("/v1/status") { try $0.domain("state") == "held" }
        let browser = try dns.lab.discoverd("h3", "browse", "_witap._tcp", "-r", "--json", "--domain", zone.name)
        try await browser.json("added") { $0.tells("added", "tony") }

        try await dns.server(zone.server, "kill")
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
            let left = try answer.objects("domains").first?["leaseLeftSeconds"] as? Int
            return try answer.domain("state") == "waiting" && left == 0
        }
        for _ in 0..<10 {
            let times = try await dns.lab.run(
                "h1", "/usr/bin/curl", "-sS", "-o", "/dev/null", "-w", "%{time_total}\n", "--unix-socket",
                daemon.socket, "http://localhost/v1/status")
            // Some milliseconds on an idle machine.
            #expect(times.compactMap(Double.init).contains { $0 < 0.5 }, "\(times)")
        }
        try await dns.server(zone.server, "start")
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { try $0.domain("state") == "held" }
        try await dns.untilThere("tony", in: zone, within: .seconds(10))
        let late = try await ZoneTests.publish(dns, zone, "late", on: "h3")
        try await browser.json(within: .seconds(40), "what came later") { $0.tells("added", "late") }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")
        for process in [browser, late] { try await process.stop() }
        try await daemon.stop()
        try await dns.stop()
    }

    @Test("it comes back with an older zone: published to again within the lease", arguments: ZoneTests.Zone.allCases)
    func older(_ zone: ZoneTests.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let files = "/run/dns/\(zone.server.rawValue)"
        try await dns.server(zone.server, "term")
        try await dns.lab.run("h2", "cp", "-a", files, "/run/dns/older")
        try await dns.server(zone.server, "start")
        try await ZoneTests.configure(dns, zone, "h1")
        let publisher = try await ZoneTests.publish(dns, zone, "tony")
        // It sees nothing of the exchange.
        publisher.signal(SIGSTOP)
        try await dns.server(zone.server, "kill")
        try await dns.lab.run("h2", "rm", "-r", files)
        try await dns.lab.run("h2", "cp", "-a", "/run/dns/older", files)
        try await dns.server(zone.server, "start")
        let name = "tony._witap._tcp.\(zone.name)"
        #expect(try await dns.dig("h1", "@\(zone.address)", name, "SRV") == [])
        publisher.signal(SIGCONT)
        try await dns.untilThere("tony", in: zone, within: .seconds(15))
        let records = try await dns.transfer(zone.name, from: zone.address)
        #expect(records.count { $0.contains("DHCID") } == 2 && records.contains { $0.contains("lease=10") })
        try await publisher.stop()
        try await dns.stop()
    }
}

extension DNSLab {
    /// Waits until a service has an SRV record, by its server.
    fileprivate func untilThere(_ name: String, in zone: ZoneTests.Zone, within limit: Duration) async throws {
        // Nothing reports it.
        let found = try await lab.bash(
            "h1",
            "until dig +noall +answer @\(zone.address) \(name)._witap._tcp.\(zone.name) SRV | grep -q . ; do sleep 0.2; done",
            within: limit)
        #expect(found.exit == .exited(0))
    }
}

extension LabDaemon.Answer {
    /// A member of the only domain.
    fileprivate func domain(_ member: String) throws -> String? { try objects("domains").first?[member] as? String }
}
