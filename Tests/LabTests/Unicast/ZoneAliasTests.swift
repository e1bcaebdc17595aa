import Foundation
import Glibc
import Testing

/// Further names of a machine in a zone, as dig(1) and the other subnet see them.
@Suite("aliases in a zone", .labSlot)
struct ZoneAliasTests {
    typealias Zone = DNSLab.Zone

    private func publish(_ dns: DNSLab, _ zone: Zone, on host: String = "h1", _ options: String...) throws -> LabProcess
    {
        try dns.lab.exec(
            host, [Built.discoverd, "publish", "--domain", zone.name, "--key", ZoneTests.key, "--no-daemon"] + options)
    }

    private func published(_ process: LabProcess, _ lines: Set<String>) async throws {
        try await process.until("\(lines)") { Set($0) == lines ? true : nil }
    }

    private func addresses(_ dns: DNSLab, _ zone: Zone, _ name: String) async throws -> Set<String> {
        let name = "\(name).\(zone.name)"
        let both = try await dns.dig("h3", "+short", "@\(zone.address)", name, "A", name, "AAAA")
        return Set(both)
    }

    private func wait(_ dns: DNSLab, _ zone: Zone, for name: String, at wanted: Set<String>) async throws {
        try await eventually(within: .seconds(30), "\(name) at \(wanted)") {
            try await addresses(dns, zone, name) == wanted ? true : nil
        }
    }

    @Test(
        "dig has its addresses, and new ones; a second machine has another name or none; a service is on it; nothing stays",
        arguments: Zone.withPowerDNS)
    func aliases(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        for host in ["h1", "h3"] { try await ZoneTests.configure(dns, zone, host) }
        let before = try await dns.transfer(zone.name, from: zone.address)
        let listener = try dns.lab.exec("h1", "nc", "-lk", "8080")
        let first = try publish(
            dns, zone, "Wiki", "8080", "--type", "_http._tcp", "--alias", "wiki", "--alias", "shop.wiki", "--host",
            "wiki.\(zone.name)")
        try await published(
            first,
            [
                "published Wiki._http._tcp.\(zone.name) port 8080",
                "published shop.wiki.\(zone.name), an alias of this machine",
            ])
        for name in ["wiki", "shop.wiki"] {
            #expect(try await addresses(dns, zone, name) == ["10.53.1.2", "fd53:1::2"], "\(name)")
        }
        #expect(try await addresses(dns, zone, "h1").isEmpty)
        let connect = try dns.lab.discoverd("h3", "connect", "Wiki", "_http._tcp", "--domain", zone.name)
        connect.write("hello\n")
        #expect(try await listener.line() == "hello")
        connect.signal(SIGTERM)

        let second = try publish(dns, zone, on: "h3", "--alias", "wiki")
        try await published(
            second,
            ["published wiki-2.\(zone.name), an alias of this machine (renamed: wiki.\(zone.name) is taken)"])
        #expect(try await addresses(dns, zone, "wiki-2") == ["10.53.2.2", "fd53:2::2"])
        for more in [["--alias", "wiki", "--on-conflict", "fail"], ["x", "9", "--alias", "wiki", "--host", "wiki"]] {
            let refused = try await dns.lab.toEnd(
                "h3",
                [Built.discoverd, "publish", "--domain", zone.name, "--key", ZoneTests.key, "--no-daemon"] + more,
                within: .seconds(20))
            #expect(refused.exit == .exited(73) && refused.output.isEmpty, "\(refused)")
        }

        _ = try await dns.lab.run("h1", "ip", "address", "add", "10.53.1.7/24", "dev", "eth0")
        try await wait(dns, zone, for: "wiki", at: ["10.53.1.2", "10.53.1.7", "fd53:1::2"])
        _ = try await dns.lab.run("h1", "ip", "address", "del", "10.53.1.7/24", "dev", "eth0")
        try await wait(dns, zone, for: "shop.wiki", at: ["10.53.1.2", "fd53:1::2"])

        try await first.stop()
        for name in ["wiki", "shop.wiki"] { #expect(try await addresses(dns, zone, name).isEmpty, "\(name)") }
        try await second.stop()
        #expect(try await dns.transfer(zone.name, from: zone.address) == before)
        try await dns.stop()
    }

    @Test("the daemon's, of discoverd.yaml: kept over kill -9 and a start; killed for good it is gone after the lease")
    func killed() async throws {
        let zone = Zone.knot
        let dns = try await DNSLab.start(zone.server, .unbound)
        let domains = "domains: [{name: \(zone.name), key: \(ZoneTests.key), lease: 10s, ttl: 5s}]"
        let daemon = try LabDaemon(dns.lab)
        try daemon.configure(
            """
            \(domains)
            services:
              - {alias: [wiki], domain: \(zone.name)}
              - {name: web, type: _http._tcp, port: 80, domain: \(zone.name), alias: [blog], host: blog.\(zone.name)}

            """)
        try await daemon.start("--avahi", "never")
        for name in ["wiki", "blog"] { try await wait(dns, zone, for: name, at: ["10.53.1.2", "fd53:1::2"]) }
        let owner = try await dns.dig("h3", "+short", "@\(zone.address)", "wiki.\(zone.name)", "DHCID")
        let old = try daemon.process
        old.signal(SIGKILL)
        try await old.exit()
        let process = try await daemon.start("--avahi", "never")
        try await process.line(.stderr, within: .seconds(20), "the alias") { $0.contains("(alias) is published") }
        let list = try await dns.lab.toEnd(
            "h1", [Built.discoverd, "wait", "_http._tcp", "--name", "web", "--domain", zone.name, "--timeout", "20"],
            within: .seconds(25))
        #expect(list.exit == .exited(0), "\(list)")
        #expect(try await dns.dig("h3", "+short", "@\(zone.address)", "wiki.\(zone.name)", "DHCID") == owner)
        for (command, words) in [
            ("publish", ["--detach", "--alias", "shop", "--domain", zone.name]), ("unpublish", ["shop.\(zone.name)"]),
        ] {
            let run = try await dns.lab.toEnd(
                "h1", [Built.discoverd, command] + words + ["--socket", daemon.socket], within: .seconds(20))
            #expect(run.exit == .exited(0), "\(run)")
            #expect(try await addresses(dns, zone, "shop").isEmpty == (command == "unpublish"))
        }
        try await ZoneTests.configure(dns, zone, "h3")
        let other = try publish(dns, zone, on: "h3", "--alias", "other")
        try await published(other, ["published other.\(zone.name), an alias of this machine"])
        process.signal(SIGKILL)
        try await process.exit()
        for name in ["wiki", "blog"] { try await wait(dns, zone, for: name, at: []) }
        try await other.stop()
        try await dns.stop()
    }
}
