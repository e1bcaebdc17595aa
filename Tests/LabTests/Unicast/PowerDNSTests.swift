import Testing

/// PowerDNS says NOERROR to what its policy leaves out, and answers no question for some names that it takes.
@Suite("PowerDNS", .labSlot)
struct PowerDNSTests {
    private static let zone = DNSLab.Zone.powerdns

    @Test(
        "a key of which a policy leaves out everything, or the addresses: 77 and the word policy, and nothing stays",
        .onlyInAll,
        arguments: ["gw", "h1"])
    func policy(_ key: String) async throws {
        let dns = try await DNSLab.start(.powerdns, .unbound)
        let setting = "lua-dnsupdate-policy-script=/run/dns/powerdns/policy.lua"
        #expect(
            try await dns.lab.bash("h2", "echo \(setting) >>/run/dns/powerdns/pdns.conf").exit == .exited(0))
        for verb in ["term", "start"] { try await dns.server(.powerdns, verb) }
        try await isRefused("tony", "9000", key: key, on: dns)
        try await dns.stop()
    }

    @Test("an alias of which a policy leaves out the owner: 77 and the word policy, and no address stays", .onlyInAll)
    func ownerOfAnAlias() async throws {
        let dns = try await DNSLab.start(.powerdns, .unbound)
        let script = "/run/dns/powerdns/owner.lua"
        let policy = "function updatepolicy(input) return input:getQType() ~= 49 end"
        let configure = """
            echo '\(policy)' >\(script)
            echo 'lua-dnsupdate-policy-script=\(script)' >>/run/dns/powerdns/pdns.conf
            """
        #expect(try await dns.lab.bash("h2", configure).exit == .exited(0))
        for verb in ["term", "start"] { try await dns.server(.powerdns, verb) }
        try await isRefused("--alias", "wiki", key: "pub", on: dns)
        try await dns.stop()
    }

    /// The policy leaves out a part: what is published is refused, and nothing of it stays.
    private func isRefused(_ words: String..., key: String, on dns: DNSLab) async throws {
        let before = try await dns.transfer(Self.zone.name, from: Self.zone.address)
        let publish = try await dns.lab.toEnd(
            "h1",
            [Built.discoverd, "publish"] + words
                + ["--domain", Self.zone.name, "--key", "/run/dns/keys/\(key).key"], within: .seconds(20))
        #expect(publish.exit == .exited(77), "\(publish.errors)")
        #expect(publish.failure?.contains("policy") == true, "\(publish.errors)")
        #expect(!publish.output.contains { $0.hasPrefix("published") }, "\(publish.output)")
        #expect(try await dns.transfer(Self.zone.name, from: Self.zone.address) == before)
    }

    @Test("a name for which it answers no question: 78, and nothing stays", .onlyInAll)
    func uncommonName() async throws {
        let dns = try await DNSLab.start(.powerdns, .unbound)
        let before = try await dns.transfer(Self.zone.name, from: Self.zone.address)
        let publish = try await dns.lab.ask(
            "h1", "publish", "Tonys Büro", "9000", "--domain", Self.zone.name, "--key", "/run/dns/keys/pub.key")
        #expect(publish.exit == .exited(78), "\(publish.errors)")
        #expect(publish.failure?.contains("PowerDNS") == true, "\(publish.errors)")
        #expect(try await dns.transfer(Self.zone.name, from: Self.zone.address) == before)
        try await dns.stop()
    }
}
