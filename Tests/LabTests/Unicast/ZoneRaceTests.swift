import Foundation
import Glibc
import Testing

/// Publishers of a zone that do not renew in time, and who takes back what they have left.
@Suite("leases of a zone", .labSlot)
struct ZoneRaceTests {
    private static let publishers = 20
    private static let rounds = Everything.isAsked ? 5 : 1

    @Test(
        "100 publishers that wake up while a janitor takes them back lose nothing; what is killed for good is gone",
        .labLong, arguments: ZoneTests.Zone.allCases)
    func races(_ zone: ZoneTests.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let lab = dns.lab
        try await dns.settings("h1", "domains:", "  - {name: \(zone.name), lease: 10s, ttl: 5s}")
        // A sub-domain for each, with a janitor of its own: all races at once.
        let domains = (0..<Self.publishers).map { "z\($0).\(zone.name)" }
        let janitors = try LabDaemon(lab, "h3")
        try janitors.configure(
            """
            domains:
              - {name: \(zone.name), key: /run/dns/keys/pub.key, lease: 10s, ttl: 5s}
            services:
            \(domains.map { "  - {name: watch, type: _witap._tcp, port: 9001, domain: \($0)}" }.joined(separator: "\n"))
            """)
        try await janitors.start()
        _ = try await janitors.curl("/v1/status", within: .seconds(60)) { try $0.held() }
        let without = try await settled(dns, zone)
        let publishers = try domains.map { domain in
            try lab.discoverd(
                "h1", "publish", "tony", "9000", "--subtype", "_printer", "--domain", domain, "--key",
                "/run/dns/keys/pub.key", "--json")
        }
        for publisher in publishers {
            try await publisher.json(within: .seconds(60), "established") { $0.state == "established" }
        }
        let with = try await settled(dns, zone)
        #expect(with.count == without.count + Self.publishers * 13, "\(with)")

        let wanted = try zip(domains, publishers).map { domain, publisher in
            let leases = Set(with).subtracting(without).compactMap { $0.lease(in: domain) }
            return "\(publisher.pid),tony._witap._tcp.\(domain),\(try #require(leases.first))"
        }
        let races = try lab.python("h3", "renewal_races.py", [zone.address, String(Self.rounds)] + wanted)
        try await races.line(within: .seconds(160), "ready") { $0 == "ready" }
        #expect(races.lines().count { $0.hasPrefix("race ") } == Self.publishers * Self.rounds)
        try await until("everything of the living is there") { try await settled(dns, zone) == with }
        for publisher in publishers { #expect(!publisher.lines().contains { $0.contains("tony #2") }) }

        for publisher in publishers { publisher.signal(SIGKILL) }
        try await until("nothing of the dead is there") { try await settled(dns, zone) == without }
        try await janitors.stop()
        try await dns.stop()
    }

    /// The zone, without what leases say.
    private func settled(_ dns: DNSLab, _ zone: ZoneTests.Zone) async throws -> [String] {
        try await dns.transfer(zone.name, from: zone.address).map { line in
            line.range(of: "\"nonce=").map { String(line[..<$0.lowerBound]) } ?? line
        }
    }

    /// Twenty janitors take back by several messages each, and a server writes each to a disk that others use.
    private func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        try await eventually(within: .seconds(120), every: .milliseconds(500), what) {
            try await isSo() ? true : nil
        }
    }
}

extension LabDaemon.Answer {
    /// Whether every service of the only domain is published.
    fileprivate func held() throws -> Bool {
        let domain = try objects("domains").first
        return domain?["state"] as? String == "held" && domain?["services"] as? Int == 20
    }
}

extension String {
    /// The owner's name, when the record is a publisher's lease in a domain.
    fileprivate func lease(in domain: String) -> String? {
        let words = split(whereSeparator: \.isWhitespace)
        guard words.count > 3, words[3] == "TXT", words[0].hasSuffix("._discoverd.\(domain).") else { return nil }
        return String(words[0])
    }
}
