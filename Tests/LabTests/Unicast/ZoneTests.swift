import Foundation
import Glibc
import Testing

/// The commands with `--domain`: h1 publishes in a zone, h3, in another subnet, finds it with its resolver.
@Suite("Services of a zone", .labSlot)
struct ZoneTests {
    typealias Zone = DNSLab.Zone

    static let key = "/run/dns/keys/pub.key"

    @Test(
        "any name and any TXT is found, resolved and connected to in the other subnet; withdrawn, the zone is as before",
        arguments: Zone.withPowerDNS)
    func found(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let before = try await dns.transfer(zone.name, from: zone.address)
        let listener = try dns.lab.exec("h1", "nc", "-lk", "9000")
        let name = zone.fullName
        let publisher = try await Self.publish(
            dns, zone, name, "--subtype", "_printer", "--txt", "Path=/A b\"c", "--txt-base64", "bin=/wAK")
        try await nsupdate(
            dns, zone,
            "add _witap._tcp.\(zone.name) 60 PTR two\\010lines._witap._tcp.\(zone.name)",
            "add two\\010lines._witap._tcp.\(zone.name) 60 SRV 0 0 9001 h1.\(zone.name)",
            "add two\\010lines._witap._tcp.\(zone.name) 60 TXT \"\"")

        let browse = try await dns.lab.ask("h3", "browse", "_witap._tcp", "-r", "-t", "--json", "--domain", zone.name)
        let services = try browse.lines().compactMap(\.service).sorted { $0.name < $1.name }
        #expect(services.map(\.name) == [zone.kept(name), "two\nlines"].sorted(), "\(browse.errors)")
        let service = try #require(services.first { $0.port == 9000 })
        #expect(service.txt == ["Path": .text("/A b\"c"), "bin": .bytes([0xFF, 0x00, 0x0A])])
        #expect(service.host == "h1.\(zone.name)")
        #expect(Set((service.endpoints ?? []).map(\.address)) == ["10.53.1.2", "fd53:1::2"])

        let resolved = try await dns.lab.ask("h3", "resolve", name, "--domain", zone.name, "--json")
        #expect(try resolved.services().map(\.port) == [9000], "\(resolved.errors)")
        let types = try await dns.lab.ask("h3", "types", "--domain", zone.name)
        #expect(types.output.map { $0.hasPrefix("_witap._tcp\t") } == [true])
        let connect = try dns.lab.discoverd("h3", "connect", name, "--domain", zone.name)
        connect.write("hello\n")
        #expect(try await listener.line() == "hello")
        connect.signal(SIGTERM)

        let records = [
            ("_services._dns-sd._udp", "PTR", 1), ("_printer._sub._witap._tcp", "PTR", 1), ("_witap._tcp", "PTR", 2),
            ("h1", "A", 1), ("h1", "AAAA", 1), ("h1", "DHCID", 1),
        ]
        for (owner, type, count) in records {
            let answer = try await dns.dig("h1", "@\(zone.address)", "\(owner).\(zone.name)", type)
            #expect(answer.count == count, "\(owner) \(type): \(answer)")
        }

        try await publisher.stop()
        try await nsupdate(
            dns, zone, "delete _witap._tcp.\(zone.name) PTR", "delete two\\010lines._witap._tcp.\(zone.name) SRV",
            "delete two\\010lines._witap._tcp.\(zone.name) TXT")
        try await nsupdate(dns, zone, "delete _services._dns-sd._udp.\(zone.name) PTR")
        #expect(try await dns.transfer(zone.name, from: zone.address) == before)
        try await dns.stop()
    }

    @Test(
        "three publishers that want one name at once have three; --on-conflict fail: 73",
        arguments: Zone.withPowerDNS)
    func oneName(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let before = try await dns.transfer(zone.name, from: zone.address)
        let publishers = try ["h1", "h1", "h3"].map { host in
            try dns.lab.discoverd(host, "publish", "web", "9000", "--domain", zone.name, "--key", Self.key, "--json")
        }
        var names: Set<String> = []
        for publisher in publishers {
            names.insert(try await publisher.json("established") { $0.state == "established" }.name ?? "")
        }
        #expect(names == ["web", zone.numbered("web", 2), zone.numbered("web", 3)])
        let browse = try await dns.lab.ask("h3", "browse", "_witap._tcp", "-r", "-t", "--json", "--domain", zone.name)
        let services = try browse.lines().compactMap(\.service)
        #expect(Set(services.map(\.name)) == names && Set(services.compactMap(\.host)).count == 3, "\(browse.output)")

        let refused = try await dns.lab.ask(
            "h3", "publish", "web", "9000", "--domain", zone.name, "--key", Self.key, "--on-conflict", "fail")
        #expect(refused.exit == .exited(73), "\(refused.errors)")
        for publisher in publishers { try await publisher.stop() }
        #expect(try await dns.transfer(zone.name, from: zone.address) == before)
        try await dns.stop()
    }

    @Test(
        "kill -9 and started again: the same name, once; kill -9 for good: gone after the lease",
        arguments: Zone.allCases)
    func killed(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        for host in ["h1", "h3"] { try await Self.configure(dns, zone, host) }
        let before = try await dns.transfer(zone.name, from: zone.address)
        let first = try await Self.publish(dns, zone, "tony")
        first.signal(SIGKILL)
        try await first.exit()
        let second = try await Self.publish(dns, zone, "tony")
        #expect(second.lines().contains { $0.contains(#""name":"tony""#) && $0.contains(#""established""#) })
        let services = try await dns.dig("h1", "@\(zone.address)", "_witap._tcp.\(zone.name)", "PTR")
        #expect(services.count == 1, "\(services)")

        let other = try await Self.publish(dns, zone, "other", on: "h3")
        second.signal(SIGKILL)
        try await second.exit()
        // Nothing reports it.
        let gone = try await dns.lab.bash(
            "h3",
            "while dig +noall +answer @\(zone.address) tony._witap._tcp.\(zone.name) SRV | grep -q . ; do sleep 0.2; done",
            within: .seconds(30))
        #expect(gone.exit == .exited(0))
        try await other.stop()
        let left = try await dns.lab.bash(
            "h3", "dig +noall +answer -k /run/dns/keys/wide.key @\(zone.address) \(zone.name) AXFR | grep -c DHCID")
        #expect(left.output == ["0"] && before.allSatisfy { !$0.contains("DHCID") })
        try await dns.stop()
    }

    static func publish(
        _ dns: DNSLab, _ zone: Zone, _ name: String, on host: String = "h1", _ options: String...
    ) async throws -> LabProcess {
        let arguments = ["publish", name, "9000", "--domain", zone.name, "--key", key, "--json"] + options
        let process = try dns.lab.exec(host, [Built.discoverd] + arguments)
        try await process.json("established") { $0.state == "established" }
        return process
    }

    /// A short lease, and a short TTL, so that who browses asks often.
    static func configure(_ dns: DNSLab, _ zone: Zone, _ host: String) async throws {
        try await dns.settings(host, "domains:", "  - {name: \(zone.name), lease: 10s, ttl: 5s}")
    }

    private func nsupdate(_ dns: DNSLab, _ zone: Zone, _ lines: String...) async throws {
        try await dns.nsupdate(zone.address, zone.name, lines.map { "update \($0)" })
    }
}
