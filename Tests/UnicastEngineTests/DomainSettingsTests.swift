import DNSMessage
import DNSSD
import Testing

@testable import UnicastEngine

/// Whether another key may take the place of the one in force.
@Suite struct DomainSettingsTests {
    @Test func onlyTheKeyMayDiffer() throws {
        let key = TSIGKey(name: try DomainName(labels: [Array("k".utf8)]), algorithm: .sha256, secret: [1])
        let address = try #require(IPAddress("10.53.0.53"))
        let old = DomainSettings(
            try Domain("home.example.org"), server: ServerName(.address(address), port: try Port(53)))
        var new = old
        new.key = key
        #expect(old.equalsButForKey(new) && new.equalsButForKey(old))
        let changes: [(inout DomainSettings) throws -> Void] = [
            { $0.server = nil }, { $0.server?.port = try Port(54) }, { $0.host = "h1" }, { $0.lease = .seconds(10) },
            { $0.domain = try Domain("office.example.org") },
        ]
        for change in changes {
            var other = new
            try change(&other)
            #expect(!old.equalsButForKey(other), "\(other)")
        }
    }

    @Test func theLongestDomainThatContainsANameCounts() throws {
        let settings = try ["example.org", "home.example.org"].map { DomainSettings(try Domain($0)) }
        let expected: KeyValuePairs<String, String?> = [
            "www.home.example.org": "home.example.org", "www.example.org": "example.org", "org": nil,
        ]
        for (text, domain) in expected {
            let name = try DomainName(labels: Domain(text).labels)
            #expect(settings.covering(name)?.domain.text == domain)
            #expect(settings.covering(try Domain(text))?.domain.text == domain)
        }
    }
}
