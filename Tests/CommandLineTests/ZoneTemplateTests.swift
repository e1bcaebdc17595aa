#if Commands
import ArgumentParser
import DNSSD
import Testing

@testable import DiscoverdCommands

@Suite struct ZoneTemplateTests {
    private func template(_ server: ZoneTemplate.Server) throws -> ZoneTemplate {
        ZoneTemplate(
            server: server, domain: try Domain("home.example.org"), key: "pub",
            addresses: [try #require(IPAddress("10.0.0.53"))])
    }

    @Test(arguments: ZoneTemplate.Server.allCases)
    func noKeyGetsTheZone(_ server: ZoneTemplate.Server) throws {
        let text = try template(server).configurationText
        for word in ["zonesub", "ANY", " NS", "CNAME", "wildcard"] { #expect(!text.contains(word), "\(word)") }
        for name in ["_tcp", "_udp", "_discoverd", "hosts"] { #expect(text.contains(name), "\(name)") }
    }

    /// PowerDNS tells its script the key's name in lower case or not, as it came.
    @Test func powerDNSComparesKeysInLowerCase() throws {
        let template = ZoneTemplate(
            server: .powerdns, domain: try Domain("home.example.org"), key: "Pub.Home",
            addresses: [try #require(IPAddress("10.0.0.53"))])
        #expect(template.configurationText.contains(#":lower() ~= "pub.home." then return false"#))
    }

    @Test func theZoneHasAServerAndIsListed() throws {
        let text = try template(.bind).zoneText
        #expect(text.contains("@ 3600 IN NS ns\n") && text.contains("ns 3600 IN A 10.0.0.53\n"))
        #expect(text.contains("b._dns-sd._udp 3600 IN PTR @\n"))
    }

    @Test(arguments: [
        "bind --domain local", "knot --domain a\\032b.org", "bind --domain a.org --key a;b", "nsd --domain a.org",
    ])
    func whatNeedsQuotingIsRefused(_ line: String) {
        #expect(throws: (any Error).self) { try parse("\(line) --server-address 10.0.0.53") }
    }

    @Test func aZoneIsPrintedWithTheAddressOfItsServerOnly() throws {
        for line in ["bind --domain a.org", "knot --domain a.org --only zone"] {
            #expect(throws: (any Error).self) { try parse(line) }
            _ = try parse("\(line) --server-address 10.0.0.53")
        }
        _ = try parse("bind --domain a.org --only configuration")
    }

    private func parse(_ line: String) throws -> ZoneTemplateCommand {
        try ZoneTemplateCommand.parse(line.split(separator: " ").map(String.init))
    }
}
#endif
