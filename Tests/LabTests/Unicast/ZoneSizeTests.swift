import Foundation
import Testing

/// Many services in one zone, and the most of one type in one domain. `Benchmarks/run --only zones` takes the times.
@Suite("Size of a zone", .labSlot)
struct ZoneSizeTests {
    private static let key = "/run/dns/keys/pub.key"

    @Test(
        "900 services in ten sub-domains: all are listed and resolved, all are in the transfer, and none is left",
        .labLong, arguments: DNSLab.Zone.withPowerDNS)
    func subdomains(_ zone: DNSLab.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let before = try await dns.transfer(zone.name, from: zone.address)
        let publisher = try await publish(dns, zone, domains: 10, each: 90)

        let domains = (1...10).map { "link\($0).\(zone.name)" }
        let browse = try await dns.lab.toEnd(
            "h3",
            [Built.discoverd, "browse", "_witap._tcp", "-r", "-t", "--json", "--timeout", "60"]
                + domains.flatMap { ["--domain", $0] }, within: .seconds(70))
        #expect(browse.exit == .exited(0), "\(browse.errors)")
        var found: [String: Set<String>] = [:]
        for service in try browse.lines().compactMap(\.service) {
            #expect(service.port == 9000 && service.endpoints?.isEmpty == false, "\(service)")
            found[service.domain, default: []].insert(service.name)
        }
        #expect(Set(found.keys) == Set(domains))
        let names = Set((1...900).map { zone.kept("Service \(String(format: "%05d", $0))") })
        #expect(found.values.allSatisfy { $0.count == 90 } && found.values.reduce([]) { $0.union($1) } == names)

        let records = try await dns.transfer(zone.name, from: zone.address).map {
            $0.split(maxSplits: 4, whereSeparator: \.isWhitespace).map { $0.lowercased() }
        }
        for type in ["srv", "txt"] {
            let owners = records.filter { $0[3] == type && $0[0].contains("._witap._tcp.") }.map { $0[0] }
            #expect(owners.count == 900 && Set(owners).count == 900, "\(type): \(owners.count)")
        }
        for domain in domains {
            let pointers = records.filter { $0[3] == "ptr" && $0[0] == "_witap._tcp.\(domain)." }
            #expect(pointers.count == 90, "\(domain): \(pointers.count)")
        }

        publisher.closeInput()
        try await publisher.line(within: .seconds(120), "withdrawn") { $0 == "withdrawn 900" }
        try await publisher.exit()
        let after = try await dns.transfer(zone.name, from: zone.address)
        #expect(after == before, "\(Set(after).symmetricDifference(before).sorted().prefix(5))")
        try await dns.stop()
    }

    @Test(
        "a hundred of a type are listed over TCP; one more is refused with the number and status 76, and the hundred stay",
        arguments: DNSLab.Zone.withPowerDNS)
    func full(_ zone: DNSLab.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let domain = "link1.\(zone.name)"
        let publisher = try await publish(dns, zone, domains: 1, each: 100)
        let truncated = try await dns.run(
            "h3", "/usr/bin/env", "dig", "+ignore", "+bufsize=1232", "@\(zone.address)", "_witap._tcp.\(domain)", "PTR")
        #expect(truncated.contains { $0.contains("flags:") && $0.contains(" tc") }, "\(truncated.prefix(5))")
        let browse = try await dns.lab.ask("h3", "browse", "_witap._tcp", "-t", "--domain", domain)
        #expect(browse.output.count == 100, "\(browse.errors)")

        let refused = try await dns.lab.ask("h3", "publish", "late", "9000", "--domain", domain, "--key", Self.key)
        #expect(refused.exit == .exited(76), "\(refused.errors)")
        #expect(refused.failure?.contains("100 services of _witap._tcp") == true, "\(refused.errors)")
        let still = try await dns.dig("h3", "+tcp", "@\(zone.address)", "_witap._tcp.\(domain)", "PTR")
        #expect(still.count == 100 && !still.contains { $0.contains("late") })

        publisher.closeInput()
        try await publisher.line(within: .seconds(60), "withdrawn") { $0 == "withdrawn 100" }
        try await dns.stop()
    }

    @Test(
        "BIND's own limit, which others have reached meanwhile: the same is said, and what was there stays", .onlyInAll)
    func limitOfServer() async throws {
        let dns = try await DNSLab.start(.bind, .unbound)
        let (zone, type) = ("wide.example.org", "_witap._tcp.wide.example.org")
        let daemon = try LabDaemon(dns.lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("domains:\n  - {name: \(zone), key: \(Self.key)}\n")
        try await daemon.start()
        // The daemon reads the list while it is empty, and remembers it.
        let first = try dns.lab.discoverd("h1", "publish", "first", "9000", "--domain", zone, "--json")
        try await first.json("established") { $0.state == "established" }
        let others = (1...99).map { "update add \(type) 60 PTR other-\($0).\(type)\n" }.joined()
        let nsupdate = try dns.lab.exec("h1", "/usr/bin/env", "nsupdate", "-k", "/run/dns/keys/wide.key")
        nsupdate.write("server 10.53.0.53\nzone \(zone)\n\(others)send\n")
        nsupdate.closeInput()
        #expect(try await nsupdate.exit() == .exited(0), "\(nsupdate.lines(.stderr))")

        let second = try await dns.lab.ask("h1", "publish", "second", "9000", "--domain", zone)
        #expect(second.exit == .exited(76), "\(second.errors)")
        #expect(second.failure?.contains("100 services of _witap._tcp") == true, "\(second.errors)")
        let log = try await dns.server(.bind, "log")
        #expect(log.contains { $0.contains("too many records") }, "\(log.suffix(5))")
        let list = try await dns.dig("h1", "+tcp", "@10.53.0.53", type, "PTR")
        #expect(list.count == 100 && list.contains { $0.contains("first") })
        try await first.stop()
        try await daemon.stop()
        try await dns.stop()
    }

    private func publish(
        _ dns: DNSLab, _ zone: DNSLab.Zone, domains: Int, each: Int
    ) async throws -> LabProcess {
        let process = try dns.lab.exec(
            "h1", [Built.program("PublishInZones"), zone.name, Self.key, "\(domains)", "\(each)"])
        try await process.line(within: .seconds(60), "established") { $0 == "established \(domains * each)" }
        return process
    }
}
