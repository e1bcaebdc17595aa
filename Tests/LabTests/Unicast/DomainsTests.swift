import Foundation
import Testing

/// `discoverd domains` where DNS servers answer, and where they do not.
@Suite("domains beyond the link", .labSlot)
struct DomainsTests {
    private static let recommended = [
        "home.example.org\tbrowsing", "home.example.org\tregistration", "office.example.org\tbrowsing",
    ]

    @Test("search domains and networks recommend, without a daemon and beside one; --domain and --server")
    func recommended() async throws {
        let dns = try await DNSLab.start(.bind, .unbound)
        try await expectAll(dns)
        try await dns.settings("h1", "domains:", "  - {name: home.example.org}")
        let daemon = try LabDaemon(dns.lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("domains: [{name: home.example.org}]")
        try await daemon.start()
        try await expectAll(dns)
        // Through the daemon, which serves it.
        let named = try await dns.lab.ask("h1", "domains", "--domain", "home.example.org", "-v")
        #expect(named.output.sorted() == ["home.example.org\tbrowsing", "home.example.org\tregistration"], "\(named)")
        #expect(named.errors.contains { $0.contains("the daemon at") })
        let list = try await daemon.curl("/v1/domains?domain=wide.example.org&domain=home.example.org")
        #expect(list.text.contains("wide.example.org") && list.text.contains("home.example.org"), "\(list.text)")
        #expect(!list.text.contains("office"))
        try await daemon.stop()

        let both = ["--domain", "wide.example.org", "--domain", "big.example.org"]
        let several = try await dns.lab.toEnd("h1", [Built.discoverd, "domains"] + both, within: .seconds(15))
        #expect(several.exit == .exited(0))
        #expect(Set(several.output.map { $0.prefix { $0 != "\t" } }) == ["wide.example.org", "big.example.org"])
        try await dns.resolv("h1", "nameserver 10.53.2.9")
        let server = try await dns.lab.ask("h1", "domains", "--domain", "wide.example.org", "--server", "10.53.0.53")
        #expect(
            server.output.sorted() == ["wide.example.org\tbrowsing", "wide.example.org\tregistration"], "\(server)")
        let dead = try await dns.lab.ask("h1", "domains", "--domain", "wide.example.org")
        #expect(dead.exit == .exited(69), "\(dead)")
        #expect(dead.failure?.contains("10.53.2.9") == true, "\(dead.errors)")
        try await dns.stop()
    }

    @Test("a resolver that is silent changes neither what the link recommends nor how long it takes; it is named")
    func silentResolver() async throws {
        let dns = try await DNSLab.start()
        try await dns.resolv("h1", "search home.example.org")
        let without = try await dns.lab.ask("h1", "domains")
        #expect(without.exit == .exited(1) && !without.errors.contains { $0.contains("DNS server") }, "\(without)")
        try await dns.resolv("h1", "search home.example.org", "nameserver 10.53.2.9")
        for options in [[], ["--json"]] {
            let silent = try await dns.lab.toEnd(
                "h1", [Built.discoverd, "domains"] + options, within: .seconds(15))
            #expect(silent.exit == .exited(1) && silent.errors.contains { $0.contains("10.53.2.9") }, "\(silent)")
            // A DNS server that says nothing is given up after 5 s and more.
            #expect(silent.duration < max(without.duration, .seconds(1)) + .seconds(3), "\(without) \(silent)")
            guard !options.isEmpty else { continue }
            #expect(try silent.lines().map(\.event) == ["degraded", "settled"], "\(silent.output)")
        }
        // Where the link recommends something, that is the answer.
        let link = try await dns.lab.inject(
            "h2",
            #"{"records": [{"name": "b._dns-sd._udp.local", "type": "PTR", "target": "floor.example.org", "ttl": 4500}]}"#
        )
        let found = try await dns.lab.ask("h1", "domains")
        try await link.stop()
        #expect(found.exit == .exited(0) && found.output == ["floor.example.org\tbrowsing"], "\(found)")
        try await dns.stop()
    }

    private func expectAll(_ dns: DNSLab) async throws {
        let run = try await dns.lab.ask("h1", "domains")
        #expect(run.exit == .exited(0) && run.output.sorted() == Self.recommended, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        let json = try await dns.lab.ask("h1", "domains", "--json", "--only", "registration")
        #expect(try json.lines().compactMap(\.domain) == ["home.example.org"], "\(json)")
    }
}
