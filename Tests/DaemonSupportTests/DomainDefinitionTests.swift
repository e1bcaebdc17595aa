import DNSSD
import Testing

@testable import DiscoveryDaemon
@testable import UnicastEngine

@Suite struct DomainDefinitionTests {
    private func domains(_ text: String) throws -> [DomainDefinition] {
        try ConfigurationDirectory(["discoverd.yaml": text]).load().domains
    }

    @Test func everyKeyIsRead() throws {
        let all = try domains(
            """
            domains:
              - name: home.example.org
                server: "[fd00::53]:5353"
                key: /etc/discoverd/pub.key
                ttl: 5s
                lease: 10s
                host: web1.hosts
                addresses: [10.0.0.7, "fd00::7"]
              - name: office.example.org
            """)
        #expect(all.count == 2)
        let (first, second) = (try #require(all.first), try #require(all.last))
        let v6 = try #require(IPAddress("fd00::53"))
        #expect(first.settings.server == ServerName(.address(v6), port: try Port(5353)))
        #expect(first.keyFile == "/etc/discoverd/pub.key" && first.settings.key == nil)
        #expect(first.settings.ttl == .seconds(5) && first.settings.lease == .seconds(10))
        #expect(first.settings.host == "web1.hosts")
        #expect(first.settings.addresses == ["10.0.0.7", "fd00::7"].compactMap { IPAddress($0) })
        #expect(second.settings == DomainSettings(try Domain("office.example.org")))
        #expect(try second.withKey() == second.settings)
    }

    @Test(arguments: [
        "[{server: 10.0.0.1}]", "[{name: local}]", "[{name: a.local}]", "[{name: \"*.a.b\"}]",
        "[{name: a.b, server: \"x:y\"}]",
        "[{name: a.b, ttl: 0s}]", "[{name: a.b, ttl: 25h}]", "[{name: a.b, lease: 9s}]", "[{name: a.b, lease: 169h}]",
        "[{name: a.b, host: \"a b\"}]", "[{name: a.b, host: \"-a\"}]", "[{name: a.b, addresses: [127.0.0.1]}]",
        "[{name: a.b, addresses: [\"fe80::1\"]}]", "[{name: a.b}, {name: A.B}]", "[{name: a.b, secret: x}]",
    ])
    func whatIsWrongIsRefused(_ list: String) {
        #expect(throws: ConfigurationError.self) { try domains("domains: \(list)\n") }
    }

    @Test func aChangeNeedsARestartUnlessOnlyLinesMoved() throws {
        let load = { try ConfigurationDirectory(["discoverd.yaml": $0]).load() }
        let old = try load("domains: [{name: a.b}]\n")
        let moved = try load("\n\ndomains: [{name: a.b}]\n")
        let other = try load("domains: [{name: a.b, lease: 1h}]\n")
        #expect(ConfigurationChange(from: old, to: moved).needsRestart.isEmpty)
        #expect(ConfigurationChange(from: old, to: other).needsRestart == ["domains"])
    }

    @Test func aKeyThatCannotBeReadIsMisconfigured() throws {
        let definition = try #require(try domains("domains: [{name: a.b, key: /nonexistent/key}]\n").first)
        let error = #expect(throws: DiscoveryError.self) { try definition.withKey() }
        #expect(error?.code == .misconfigured && error?.message.contains("/nonexistent/key") == true)
    }
}
