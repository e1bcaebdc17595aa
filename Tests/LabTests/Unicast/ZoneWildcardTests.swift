import Foundation
import Testing

/// A label `*` is a wildcard in a zone: no server gets one from here, and what one leaves is taken for nobody's.
@Suite("Wildcards in zones", .labSlot)
struct ZoneWildcardTests {
    private static let pub = "/run/dns/keys/pub.key"

    @Test(
        "a service called * is refused and nothing stays; a wildcard that is there does not keep a name from being published",
        arguments: DNSLab.Zone.withPowerDNS)
    func refused(_ zone: DNSLab.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let before = try await dns.transfer(zone.name, from: zone.address)
        for timeout in [[], ["--timeout", "5"]] {
            let run = try await dns.lab.toEnd(
                "h1",
                [Built.discoverd, "publish", "*", "9000", "--domain", zone.name, "--key", Self.pub] + timeout,
                within: .seconds(15))
            #expect(run.exit != .exited(0) && run.duration < .seconds(5), "\(run)")
            #expect(run.failure?.contains("wildcard") == true, "\(run.errors)")
        }
        #expect(try await dns.transfer(zone.name, from: zone.address) == before)
        // As an earlier version left it.
        let star = "*._witap._tcp.\(zone.name)"
        try await dns.nsupdate(
            zone.address, zone.name,
            [
                "update add \(star) 60 DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",
                "update add \(star) 60 SRV 0 0 4444 h9.\(zone.name).", "update add \(star) 60 TXT \"a=b\"",
            ])
        let publisher = try dns.lab.discoverd(
            "h1", "publish", "tony", "9000", "--domain", zone.name, "--key", Self.pub, "--on-conflict", "fail", "--json"
        )
        try await publisher.json("established") { $0.state == "established" }
        try await publisher.stop()
        let after = try await dns.transfer(zone.name, from: zone.address)
        #expect(after.count == before.count + 3, "\(Set(after).subtracting(before))")
        try await dns.stop()
    }

    @Test("a configuration that cannot be read is named, where it would have the domain's key")
    func brokenConfiguration() async throws {
        let dns = try await DNSLab.start(.unbound)
        try await dns.settings("h1", "domains:", "  - {nam: home.example.org, key: /run/dns/keys/pub.key}")
        let run = try await dns.lab.toEnd(
            "h1", [Built.discoverd, "publish", "tony", "9000", "--domain", "home.example.org"],
            within: .seconds(15))
        #expect(run.exit == .exited(78), "\(run)")
        #expect(run.failure?.contains("nam") == true && run.failure?.contains("nothing publishes") == false, "\(run)")
        try await dns.stop()
    }
}
